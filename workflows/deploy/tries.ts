import type { UpdateTrackingRequest } from '../../activities/unitTracker';
import type { PhasePlan } from '../../domain/deploy/plan';
import type { Earlier } from '../../domain/deploy/progress';
import { phaseUnits } from '../../domain/deploy/unavailable';
import { formatSummary } from '../../domain/markdown';
import { retryAfterMs } from '../../domain/settings';
import { formatDuration } from '../../domain/text';
import { patientPushWatchers } from '../proxies';
import { until, waitOut } from '../waitFor';
import { callUntilAnswered } from './calls';
import { unitsOfPart, type StridePart } from './lockstep';
import type { HealthWatcher } from './needs';
import type { DeployRecorder } from './recorder';
import { buildTracking } from './update';
import type { UpdateControl, UpdateEnd } from './update';

/** Meets the criterion of a phase, through several tries, a pause, or a person who accepts less. */

/** The last try of a phase, or of one of its strides; the next try repeats it unchanged. */
export interface PhaseTry {
  readonly id: string;
  readonly part: StridePart;
}

/** The results of all tries of a phase so far, read just before the next. */
export async function readEarlierTries(
  run: HealthWatcher,
  phase: PhasePlan,
  { id, part }: PhaseTry,
  before: Earlier | undefined,
): Promise<Earlier | undefined> {
  const update = {
    updateIds: [id],
    selection: unitsOfPart(phaseUnits(run.record, phase), part),
    ...(before ? { earlier: before } : {}),
  };
  const tracking = buildTracking(run, update, phase);
  const seen = await callUntilAnswered(run, 'trackUpdates', (push) => push.unitsBehind(run.call, tracking));
  // A try that was refused has had no effect.
  if ('refused' in seen) return before;
  return { first: before?.first ?? id, units: seen.value };
}

/** The number of times that a phase continues by itself after a transient failure. */
export const MAX_TRANSIENT = 3;

/**
 * A task that failed to start may come up when the fleet tries again. Such a failure is transient, and another update takes the tasks
 * that the failed one left (docs/design/pipeline.md#retry). If a task stays dead for a while, the change is at fault.
 * @returns whether the change is not to blame: every failed task is live by now.
 */
export async function recheckFailedTasks(run: HealthWatcher, phase: PhasePlan, updateId: string, failures: number) {
  if (failures > MAX_TRANSIENT) return false;
  const afterMs = run.input.settings.transientMs;
  run.note('failing', `${phase.name}: a task failed to start; looking again in ${formatDuration(afterMs)}`);
  await waitOut({ afterMs, summary: formatSummary(`${phase.name}: whether the failed tasks come up`) });
  const tracking = buildTracking(run, { updateIds: [updateId], selection: phaseUnits(run.record, phase) }, phase);
  const seen = await callUntilAnswered(run, 'trackUpdates', (push) => push.trackUpdates(run.call, tracking));
  if ('refused' in seen) return false;
  const { totals, failed } = seen.value;
  const isUp = totals.units > 0 && failed === 0;
  if (isUp) run.note('retrying', `${phase.name}: the failed tasks have come up; updating the rest`);
  return isUp;
}

/** During a pause by the update timeout: ends the pause if the criterion is met after all, by tasks in flight or tasks that return. */
export async function endPauseOnceMet(
  run: HealthWatcher,
  { name }: PhasePlan,
  tracking: UpdateTrackingRequest,
  control: UpdateControl,
): Promise<void> {
  const isOver = () => run.paused?.by !== 'timeout' || run.record.control.resuming !== null;
  const { trackIntervalMs: intervalMs, heartbeatTimeoutMs } = run.input.settings;
  const summary = formatSummary(`${name}: whether its criterion is met after all`);
  const waited = await run.waitFor(
    () =>
      patientPushWatchers(run.input.settings).followUpdates.executeWithOptions({ summary }, [
        run.call,
        { ...tracking, intervalMs, heartbeatTimeoutMs },
      ]),
    { wake: isOver },
  );
  if (waited.kind !== 'done' || waited.value.progress.kind !== 'met') return;
  control.show(waited.value);
  const text = `${name}: its criterion is met after all`;
  if (run.record.verdict === 'unhealthy') run.keepPaused(`${text}, but its health is not fine`);
  else run.unpause(text);
}

/** Ends a phase if a person continues without the missing tasks. @returns undefined if no person has. */
export async function finishWithoutMissing(
  run: HealthWatcher,
  tracking: UpdateTrackingRequest,
  control: UpdateControl,
): Promise<UpdateEnd | undefined> {
  if (run.record.control.accepted === null) return undefined;
  const seen = await callUntilAnswered(run, 'trackUpdates', (push) => push.trackUpdates(run.call, tracking));
  if ('refused' in seen) return { kind: 'refused', reason: seen.refused };
  control.show(seen.value);
  const { unfinished, missing } = seen.value;
  return { kind: 'met', unfinished, missing };
}

/** Pauses after a try of going back that failed, until the next one: after a while, or at once when a person resumes. */
export async function pauseUntilRetry(
  run: DeployRecorder,
  end: Exclude<UpdateEnd, { kind: 'met' | 'empty' }>,
  failures: number,
  what: 'revert' | 'rollback',
): Promise<void> {
  if (end.kind === 'refused') run.pauseOn(end.reason);
  else run.pause('timeout', `the old version does not come up: ${end.reason}`);
  const afterMs = retryAfterMs(run.input.settings, failures);
  await until(() => run.record.control.resuming !== null, { afterMs, summary: `${what}: try again` });
  run.unpause(`trying the ${what} again`);
}
