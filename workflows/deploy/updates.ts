import type { UpdateRequest } from '../../activities/pushType';
import type { PhasePlan } from '../../domain/deploy/plan';
import { judgeProgress, judgeTimeout, type Progress } from '../../domain/deploy/progress';
import type { UnitProgress } from '../../domain/fleet/unit';
import { formatDuration } from '../../domain/text';
import { pushWatchers } from '../proxies';
import { insist, messageOf } from './dependable';
import type { DeployRun } from './run';

/**
 * How the updates of a phase ended; `left` when the deploy stops or a person skips the phase, `refused` when the push type
 * does not take them or has forgotten them, so that only another try can help.
 */
export type UpdateEnd =
  | { readonly kind: 'met'; readonly units: readonly UnitProgress[] }
  | { readonly kind: 'left' }
  | { readonly kind: 'refused'; readonly reason: string }
  | Exclude<Progress, { kind: 'going' | 'met' }>;

/** What the runner of updates needs from its caller, which differs between a phase and a revert. */
export interface UpdateControl {
  /** Leave the updates: they are cancelled. */
  readonly leave: () => boolean;
  /** Waits while paused. */
  readonly hold: () => Promise<void>;
  readonly show: (units: readonly UnitProgress[]) => void;
}

/**
 * Sends the updates of a phase, or of a revert, and follows them until the success criterion is met or cannot be met
 * any more. Pausing pauses them in the fleet, and the time limit does not run meanwhile.
 */
export async function runUpdates(
  run: DeployRun,
  phase: PhasePlan,
  request: UpdateRequest,
  control: UpdateControl,
): Promise<UpdateEnd> {
  const summary = `${phase.name}: ${request.targets.length === 1 ? (request.targets[0]?.unit ?? '') : `${request.targets.length} units`}`;
  const sent = await insist(
    run,
    'executeUpdates',
    (push) => push.executeUpdates.executeWithOptions({ summary }, [run.call, request]),
    control.leave,
  );
  if (sent === undefined) return giveUp(run, request.updateId);
  if ('refused' in sent) return { kind: 'refused', reason: sent.refused };
  const budget = { leftMs: phase.updateTimeoutMs };
  for (let pauses = 1; ; pauses += 1) {
    const end = await follow(run, phase, request.updateId, budget, control);
    if (control.leave()) return giveUp(run, request.updateId);
    if (end !== 'paused') return end;
    await inFleet(run, 'pauseUpdates', request.updateId, pauses, control);
    await control.hold();
    if (control.leave()) return giveUp(run, request.updateId);
    await inFleet(run, 'resumeUpdates', request.updateId, pauses, control);
  }
}

/** @param budget what is left of the time limit; nothing is taken off while the push type does not answer. */
async function follow(
  run: DeployRun,
  phase: PhasePlan,
  updateId: string,
  budget: { leftMs: number },
  control: UpdateControl,
): Promise<UpdateEnd | 'paused'> {
  const { trackIntervalMs: intervalMs, heartbeatTimeoutMs } = run.input.settings;
  const summary = `${phase.name}: follow updates`;
  const startedMs = Date.now();
  const waited = await run.waitFor(
    () =>
      pushWatchers(run.input.settings).followUpdates.executeWithOptions({ summary }, [
        run.call,
        { updateId, success: phase.success, intervalMs, heartbeatTimeoutMs },
      ]),
    () => control.leave() || run.paused !== null,
    { afterMs: budget.leftMs, summary: `${phase.name}: update timeout` },
  );
  budget.leftMs = Math.max(0, budget.leftMs - (Date.now() - startedMs));
  if (waited.kind === 'woken') return 'paused';
  if (waited.kind === 'done') return judged(waited.value, phase, control);
  if (waited.kind === 'failed') run.note('trouble', `following the updates failed: ${messageOf(waited.error)}`);
  const seen = await look(run, updateId, control);
  if (seen === undefined) return 'paused';
  if ('refused' in seen) return { kind: 'refused', reason: seen.refused };
  control.show(seen.value);
  if (waited.kind === 'failed') return follow(run, phase, updateId, budget, control);
  const progress = judgeProgress(seen.value, phase.success);
  if (progress.kind === 'met') return { kind: 'met', units: seen.value };
  const late = judgeTimeout(seen.value);
  return { ...late, reason: `${late.reason} (${formatDuration(phase.updateTimeoutMs)})` };
}

function judged(units: readonly UnitProgress[], phase: PhasePlan, control: UpdateControl): UpdateEnd {
  control.show(units);
  const progress = judgeProgress(units, phase.success);
  return progress.kind === 'met' || progress.kind === 'going' ? { kind: 'met', units } : progress;
}

/** The counts as they are now, however long the push type takes to tell them. */
const look = (run: DeployRun, updateId: string, control: UpdateControl) =>
  insist(run, 'trackUpdates', (push) => push.trackUpdates(run.call, updateId), control.leave);

/** A push type that refuses does not keep a person from resuming, cancelling or reverting; it is said, and no more. */
async function inFleet(
  run: DeployRun,
  method: 'pauseUpdates' | 'resumeUpdates',
  updateId: string,
  nth: number,
  control: UpdateControl,
): Promise<void> {
  const answer = await insist(run, method, (push) => push[method](run.call, updateId, nth), control.leave);
  if (answer && 'refused' in answer) run.note('trouble', `${method} was refused: ${answer.refused}`);
}

/** Tasks in flight finish, no other starts. An update that never arrived is refused, and needs no cancelling. */
async function giveUp(run: DeployRun, updateId: string): Promise<UpdateEnd> {
  const answer = await insist(
    run,
    'cancelUpdates',
    (push) => push.cancelUpdates(run.call, updateId),
    () => false,
  );
  if (answer && 'refused' in answer) run.note('trouble', `cancelling the updates was refused: ${answer.refused}`);
  return { kind: 'left' };
}
