import type { Watched } from '../domain/deploy/bake';
import type { HealthCheck } from '../domain/spec/health';
import type { RequestInput, ResponseOf } from '../sdk/protocol/common';
import { createFleetActivities } from './fleet';
import { watchHealth, type HealthChecksCall, type HealthReport, type HealthWatch } from './healthWatch';
import { inChunks, invoker, reservedUpdates, type DeployCall, type Invoke, type PushPorts } from './pushCalls';
import { createRevertActivities } from './reverts';
import { unitsIn } from './snapshots';
import { createStrideActivities } from './strides';
import { createUpdateActivities } from './updates';

export type PushTypeActivities = ReturnType<typeof createPushTypeActivities>;
export type { HealthReport, HealthWatch, Watched, HealthCheck };

/** The push type port (docs/reference/protocols.md#push-type): what a deploy knows of its units, its updates, its revert and its health. */
export function createPushTypeActivities(ports: PushPorts) {
  const invoke = invoker(ports);
  return {
    ...createFleetActivities(ports, invoke),
    ...createUpdateActivities(ports, invoke),
    ...createRevertActivities(ports, invoke),
    ...createStrideActivities(ports, invoke),

    /** Evaluates the checks once; see `HealthWatch` for when it has an answer. */
    watchHealth: (call: DeployCall, watch: HealthWatch): Promise<HealthReport> =>
      watchHealth(
        ports.clock,
        {
          unitsIn: (selection) => unitsIn(ports.snapshots, selection),
          evaluate: async (request) => {
            const exclude = await reservedUpdates(ports, call);
            const targets = { ...request.targets, ...(exclude.length > 0 ? { exclude } : {}) };
            return evaluateInChunks(invoke, call, { ...request, targets });
          },
        },
        watch,
      ),
  };
}

/** Checks of single units are made in portions of them; those of the whole deploy concern all units at once. */
async function evaluateInChunks(
  invoke: Invoke,
  call: DeployCall,
  request: RequestInput<HealthChecksCall>,
): Promise<ResponseOf<HealthChecksCall>> {
  const chunks = inChunks(call, request.targets.units, String);
  if (chunks.length === 1) return invoke(call, 'runHealthChecks', request);
  const of = (scope: 'unit' | 'deploy') => request.checks.filter((check) => (check.scope ?? 'unit') === scope);
  const [perUnit, pooled] = [of('unit'), of('deploy')];
  const answers = await Promise.all(
    (perUnit.length > 0 ? chunks : []).map(({ items }) =>
      invoke(call, 'runHealthChecks', {
        ...request,
        checks: perUnit,
        targets: { ...request.targets, units: [...items] },
      }),
    ),
  );
  const whole = pooled.length > 0 ? await invoke(call, 'runHealthChecks', { ...request, checks: pooled }) : undefined;
  return { units: answers.flatMap(({ units }) => units), deploy: whole?.deploy ?? { checks: [] } };
}
