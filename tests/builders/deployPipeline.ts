import type { PipelineSource } from '../../domain/spec/pipeline';

export type DeployWith = Extract<PipelineSource['actions'][string], { type: 'deploy' }>['with'];

/** A check of the errors of a job; a version with up to five in a hundred passes. */
export const ERRORS = { name: 'errors', metric: 'rpc.error_ratio', threshold: { above: 0.05 } };

/** A pipeline whose one action deploys the executable of a manual release. */
export const deployPipeline = (
  pipeline: string,
  deploy: Partial<DeployWith> & Pick<DeployWith, 'config'>,
  more: Partial<PipelineSource> = {},
): PipelineSource => ({
  pipeline,
  owners: ['user:alice'],
  artifacts: { executable: { finder: 'manual' } },
  actions: { deploy: { type: 'deploy', inputs: ['executable'], with: { pushType: 'twine', ...deploy } } },
  ...more,
});
