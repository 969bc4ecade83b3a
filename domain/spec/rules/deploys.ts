import type { DeploySpec } from '../deploy';
import type { PipelineSpec } from '../pipeline';
import type { Path } from '../problem';

/** The deploys of a pipeline, each with the path of its `with`. */
export function deploysOf(
  spec: PipelineSpec,
): { readonly path: Path; readonly name: string; readonly deploy: DeploySpec }[] {
  return Object.entries(spec.actions).flatMap(([name, action]) =>
    action.type === 'deploy' ? [{ path: ['actions', name, 'with'], name, deploy: action.with }] : [],
  );
}
