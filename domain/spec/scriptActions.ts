import type { ActionSpec, PipelineSpec } from './pipeline';

/** The actions of a pipeline that run programs on workers. */
export const listScriptActions = ({ actions }: Pick<PipelineSpec, 'actions'>): string[] =>
  Object.entries(actions).flatMap(([name, action]) => (runsScripts(action) ? [name] : []));

function runsScripts(action: ActionSpec): boolean {
  if (action.type === 'custom-script') return true;
  if (action.type !== 'deploy') return false;
  const { phases = [], completion } = action.with;
  return [...phases, completion ?? {}].some(({ pre = [], post = [] }) =>
    [...pre, ...post].some((step) => 'command' in step || (step.undo !== undefined && 'command' in step.undo)),
  );
}
