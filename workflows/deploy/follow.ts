import type { TrackedUpdate, UpdateTrackingRequest } from '../../activities/unitTracker';
import type { PhasePlan } from '../../domain/deploy/plan';
import type { NamedUnits } from '../../domain/deploy/snapshot';
import { formatNamed } from '../../domain/deploy/unavailable';
import { formatDuration, withReason } from '../../domain/text';
import { formatSummary } from '../../domain/markdown';
import { pushWatchers } from '../proxies';
import { callUntilAnswered, getFailureMessage } from './calls';
import { callOrPause } from './refusals';
import type { UpdateRunner } from './needs';
import type { DeployRecorder } from './recorder';
import { buildTracking, type UpdateControl, type UpdateEnd, type UpdateOrder } from './update';

/** If an answer leaves units out, nothing is known about them. In particular, they do not count as updated. */
export const judgeUnanswered = (
  run: DeployRecorder,
  units: NamedUnits,
  what: string,
  why = '',
): UpdateEnd | undefined =>
  units.count === 0
    ? undefined
    : { kind: 'refused', reason: withReason(`${run.input.spec.pushType} ${what} ${formatNamed(units)}`, why) };

/** @param budget the rest of the time limit; it does not shrink while the push type does not answer. */
export async function follow(
  run: UpdateRunner,
  phase: PhasePlan,
  order: UpdateOrder,
  updateIds: readonly string[],
  budget: { leftMs: number },
  control: UpdateControl,
): Promise<UpdateEnd | 'paused'> {
  const tracking = buildOrderTracking(run, phase, order, updateIds, control);
  const { trackIntervalMs: intervalMs, heartbeatTimeoutMs, transientMs } = run.input.settings;
  const summary = formatSummary(`${phase.name}: follow updates`);
  const startedMs = Date.now();
  // A push type whose counts are doubted must settle the doubt before the time is up.
  const patienceMs = Math.min(transientMs, budget.leftMs / 2);
  const proof = order.brings ? { proof: { brings: order.brings, patienceMs } } : {};
  const isTimed = !control.groups?.hasPausedGroups();
  const waited = await run.waitFor(
    () =>
      pushWatchers(run.input.settings, run.isUrgent).followUpdates.executeWithOptions({ summary }, [
        run.call,
        { ...tracking, ...proof, intervalMs, heartbeatTimeoutMs },
      ]),
    {
      wake: () => run.isHalted || control.groups?.differs() === true,
      timeout: isTimed
        ? { afterMs: budget.leftMs, summary: formatSummary(`${phase.name}: update timeout`) }
        : undefined,
    },
  );
  if (isTimed) budget.leftMs = Math.max(0, budget.leftMs - (Date.now() - startedMs));
  if (waited.kind === 'woken') return 'paused';
  if (waited.kind === 'done' && waited.value.unproven) {
    await untilCounted(run, order);
    return follow(run, phase, order, updateIds, budget, control);
  }
  if (waited.kind === 'done') return judgeTracked(run, order, waited.value, control);
  if (waited.kind === 'failed') run.note('trouble', `following the updates failed: ${getFailureMessage(waited.error)}`);
  // Reads the current counts, however long the push type takes to return them.
  const seen = await callUntilAnswered(run, 'trackUpdates', (push) =>
    push.trackUpdates(run.call, { ...tracking, ...(waited.kind === 'timeout' ? proof : {}) }),
  );
  if ('refused' in seen) return { kind: 'refused', reason: seen.refused };
  control.show(seen.value);
  if (waited.kind === 'failed') return follow(run, phase, order, updateIds, budget, control);
  const { progress, late } = seen.value;
  if (progress.kind === 'met' || (progress.kind === 'stuck' && progress.denied))
    return judgeTracked(run, order, seen.value, control);
  return { ...late, late: true, reason: `${late.reason} (${formatDuration(phase.updateTimeoutMs)})` };
}

/** Waits until the push type counts again. */
async function untilCounted(run: UpdateRunner, { brings, selection }: UpdateOrder): Promise<void> {
  if (!brings || !('want' in brings)) return;
  const work = { selection, want: brings.want };
  await callOrPause(run, 'needsPush', (push) => push.countOutdated(run.call, work));
}

export function buildOrderTracking(
  run: DeployRecorder,
  phase: PhasePlan,
  { selection, withoutGone, removes }: UpdateOrder,
  updateIds: readonly string[],
  { earlier }: UpdateControl,
): UpdateTrackingRequest {
  const of = {
    ...{ updateIds, selection },
    ...(withoutGone ? { withoutGone } : {}),
    ...(removes ? { removes } : {}),
    ...(earlier ? { earlier } : {}),
  };
  return buildTracking(run, of, phase);
}

function judgeTracked(
  run: DeployRecorder,
  { updateId }: UpdateOrder,
  tracked: TrackedUpdate,
  control: UpdateControl,
): UpdateEnd {
  control.show(tracked);
  const left = judgeUnanswered(run, tracked.unheard, `does not report what ${updateId} did to`);
  if (left) return left;
  const { progress, unfinished, missing } = tracked;
  return progress.kind === 'met' || progress.kind === 'going' ? { kind: 'met', unfinished, missing } : progress;
}
