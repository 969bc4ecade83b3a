import type { DeployAction, PipelineSpec } from './pipeline';

/** A deploy action and its name. */
export type NamedDeploy = readonly [name: string, action: DeployAction];

/** The deploy actions of a pipeline, as its file lists them. */
export const listDeployActions = ({ actions }: Pick<PipelineSpec, 'actions'>): NamedDeploy[] =>
  Object.entries(actions).flatMap(([name, action]) => (action.type === 'deploy' ? [[name, action] as const] : []));

/** Deploys and canaries, with the config that their push type reads. */
export const deploysWithConfig = ({
  actions,
}: Pick<PipelineSpec, 'actions'>): (readonly [
  name: string,
  deploy: Pick<DeployAction['with'], 'pushType' | 'config'>,
])[] =>
  Object.entries(actions).flatMap(([name, action]) =>
    action.type === 'deploy' || action.type === 'canary' ? [[name, action.with] as const] : [],
  );
