import type { BakeWatchResult } from '../domain/deploy/bake';
import { unsaidEvidence } from '../domain/health/evaluate';
import type { HealthCheck } from '../domain/spec/health';
import type { RequestInput, ResponseOf } from '../sdk/protocol/common';
import { stillThere } from './fetchUnits';
import { createFleetActivities } from './fleet';
import { watchHealth, type HealthChecksCall, type HealthReport, type HealthWatch } from './healthWatch';
import { inChunks, invoker, findReservedUpdates, type DeployCall, type Invoke, type PushPorts } from './pushCalls';
import { createRemovalActivities } from './removals';
import { createRevertActivities } from './reverts';
import { unitsIn } from './snapshots';
import { createStrideActivities } from './strides';
import { createUpdateActivities } from './updates';

export type PushTypeActivities = ReturnType<typeof createPushTypeActivities>;
export type { HealthReport, HealthWatch, BakeWatchResult, HealthCheck };

/** The push type port (docs/reference/protocols.md#push-type): the units, the updates, the revert and the health of a deploy. */
export function createPushTypeActivities(ports: PushPorts) {
  const invoke = invoker(ports);
  return {
    ...createFleetActivities(ports, invoke),
    ...createUpdateActivities(ports, invoke),
    ...createRevertActivities(ports, invoke),
    ...createRemovalActivities(ports, invoke),
    ...createStrideActivities(ports, invoke),

    /** Evaluates the checks once; see `HealthWatch` for when it has an answer. */
    watchHealth: (call: DeployCall, watch: HealthWatch): Promise<HealthReport> =>
      watchHealth(
        ports.clock,
        {
          unitsIn: (selection) => unitsIn(ports.snapshots, selection),
          evaluate: async (request) => {
            const exclude = await findReservedUpdates(ports, call);
            const targets = { ...request.targets, ...(exclude.length > 0 ? { exclude } : {}) };
            return evaluateAll(invoke, call, { ...request, targets });
          },
        },
        watch,
      ),
  };
}

/** Adds the units that the answer leaves out: an existing unit without an answer is not healthy. */
async function evaluateAll(
  invoke: Invoke,
  call: DeployCall,
  request: RequestInput<HealthChecksCall>,
): Promise<ResponseOf<HealthChecksCall>> {
  const answer = await evaluateInChunks(invoke, call, request);
  const checks = request.checks.filter(isOfUnits);
  const said = new Set(answer.units.map(({ id }) => id));
  const silent = checks.length === 0 ? [] : request.targets.units.filter((id) => !said.has(id));
  if (silent.length === 0) return answer;
  const unsaid = checks.map(({ name }) => unsaidEvidence(name, request.now));
  const left = await stillThere(invoke, call, silent);
  return { ...answer, units: [...answer.units, ...left.map((id) => ({ id, checks: unsaid }))] };
}

const isOfUnits = ({ scope = 'unit' }: { readonly scope?: string | undefined }): boolean => scope === 'unit';

/** Checks of single units run in portions of units; checks of the whole deploy concern all units at once. */
async function evaluateInChunks(
  invoke: Invoke,
  call: DeployCall,
  request: RequestInput<HealthChecksCall>,
): Promise<ResponseOf<HealthChecksCall>> {
  const chunks = inChunks(call, request.targets.units, String);
  if (chunks.length === 1) return invoke(call, 'runHealthChecks', request);
  const perUnit = request.checks.filter(isOfUnits);
  const pooled = request.checks.filter((check) => !isOfUnits(check));
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
