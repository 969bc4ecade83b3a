import type { UpdateRequest } from '../../activities/pushType';
import type { PhasePlan } from '../../domain/deploy/plan';
import { judgeEach } from '../../domain/deploy/lockstep';
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
  | (Exclude<Progress, { kind: 'going' | 'met' }> & { /** The time was up. */ readonly late?: true });

/** What the runner of updates needs from its caller, which differs between a phase and a revert. */
export interface UpdateControl {
  /** Leave the updates: they are cancelled. */
  readonly leave: () => boolean;
  /** No update may start now, for another reason than a pause; those in the fleet are paused. */
  readonly closed: () => boolean;
  /** Waits while paused or closed. */
  readonly hold: () => Promise<void>;
  readonly show: (units: readonly UnitProgress[]) => void;
  /** Parallel mode. */
  readonly groups?: GroupControl;
}

/** Groups of units that health pauses by themselves. */
export interface GroupControl {
  /** Others are to stand still than do. */
  readonly differs: () => boolean;
  /** Makes the fleet do what `differs` asks for. */
  settle(): Promise<void>;
  /** Whether any stands still, while which the time limit does not run. */
  readonly isHolding: () => boolean;
  /** Looks at health once more after all stood still. */
  refresh(): Promise<void>;
  /** Resumes all but the groups that are to stand still. */
  resumeOthers(nth: number): Promise<void>;
  /** Waits before an update is sent, which begins in all groups. */
  untilNonePaused(): Promise<void>;
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
  const { updateId } = request;
  const budget = { leftMs: phase.updateTimeoutMs };
  let sent = false;
  for (let pauses = 1; ; pauses += 1) {
    const refused: UpdateEnd | 'paused' | undefined = sent ? undefined : await send(run, phase, request, control);
    sent ||= refused === undefined;
    const end = refused ?? (await follow(run, phase, request, budget, control));
    if (control.leave()) return giveUp(run, updateId);
    if (end !== 'paused') return end;
    if (control.groups?.differs() && !isHalted(run, control)) {
      await control.groups.settle();
      continue;
    }
    await inFleet(run, 'pauseUpdates', updateId, pauses, control);
    await control.hold();
    await control.groups?.refresh();
    if (control.leave()) return giveUp(run, updateId);
    // What the push type has not taken yet it would begin everywhere.
    if (control.groups && !sent) await control.groups.untilNonePaused();
    else await (control.groups?.resumeOthers(pauses) ?? inFleet(run, 'resumeUpdates', updateId, pauses, control));
  }
}

const isHalted = (run: DeployRun, control: UpdateControl): boolean => run.paused !== null || control.closed();

/**
 * @returns undefined once all units have taken their update. `paused` when a command came before the answer: what was on
 * its way by then is waited for, so that nothing that follows from the command overtakes it.
 */
async function send(
  run: DeployRun,
  phase: PhasePlan,
  request: UpdateRequest,
  control: UpdateControl,
): Promise<UpdateEnd | 'paused' | undefined> {
  const [only] = request.targets;
  const summary = `${phase.name}: ${request.targets.length === 1 ? (only?.unit ?? '') : `${request.targets.length} units`}`;
  const options = { summary, cancellationType: 'WAIT_CANCELLATION_COMPLETED' as const };
  let sending: Promise<unknown> = Promise.resolve();
  run.unsent = request.updateId;
  const sent = await insist(
    run,
    'executeUpdates',
    (push) => {
      const call = push.executeUpdates.executeWithOptions(options, [run.call, request]);
      sending = call;
      return call;
    },
    () => control.leave() || control.closed() || run.paused?.by === 'operator',
  );
  if (sent === undefined) return sending.then(paused, paused);
  if ('refused' in sent) return { kind: 'refused', reason: sent.refused };
  run.unsent = null;
  return unheard(run, request, sent.value, 'did not take the update of');
}

const paused = () => 'paused' as const;

/** An answer that leaves units out says nothing of them, least of all that they are updated. */
function unheard(
  run: DeployRun,
  { targets }: UpdateRequest,
  units: readonly string[],
  what: string,
): UpdateEnd | undefined {
  const left = targets.map(({ unit }) => unit).filter((unit) => !units.includes(unit));
  return left.length === 0
    ? undefined
    : { kind: 'refused', reason: `${run.input.spec.pushType} ${what} ${left.join(', ')}` };
}

/** @param budget what is left of the time limit; nothing is taken off while the push type does not answer. */
async function follow(
  run: DeployRun,
  phase: PhasePlan,
  request: UpdateRequest,
  budget: { leftMs: number },
  control: UpdateControl,
): Promise<UpdateEnd | 'paused'> {
  const { updateId } = request;
  const { trackIntervalMs: intervalMs, heartbeatTimeoutMs } = run.input.settings;
  const summary = `${phase.name}: follow updates`;
  const startedMs = Date.now();
  const isTimed = !control.groups?.isHolding();
  const waited = await run.waitFor(
    () =>
      pushWatchers(run.input.settings).followUpdates.executeWithOptions({ summary }, [
        run.call,
        { updateId, success: phase.success, ...each(run), intervalMs, heartbeatTimeoutMs },
      ]),
    () => control.leave() || isHalted(run, control) || control.groups?.differs() === true,
    isTimed ? { afterMs: budget.leftMs, summary: `${phase.name}: update timeout` } : undefined,
  );
  if (isTimed) budget.leftMs = Math.max(0, budget.leftMs - (Date.now() - startedMs));
  if (waited.kind === 'woken') return 'paused';
  if (waited.kind === 'done') return judged(run, request, waited.value, phase, control);
  if (waited.kind === 'failed') run.note('trouble', `following the updates failed: ${messageOf(waited.error)}`);
  const seen = await look(run, updateId, control);
  if (seen === undefined) return 'paused';
  if ('refused' in seen) return { kind: 'refused', reason: seen.refused };
  control.show(seen.value);
  if (waited.kind === 'failed') return follow(run, phase, request, budget, control);
  const progress = judge(run, seen.value, phase);
  if (progress.kind === 'met') return judged(run, request, seen.value, phase, control);
  const late = judgeTimeout(seen.value);
  return { ...late, late: true, reason: `${late.reason} (${formatDuration(phase.updateTimeoutMs)})` };
}

function judged(
  run: DeployRun,
  request: UpdateRequest,
  units: readonly UnitProgress[],
  phase: PhasePlan,
  control: UpdateControl,
): UpdateEnd {
  control.show(units);
  const ids = units.map(({ id }) => id);
  const left = unheard(run, request, ids, `says nothing of what ${request.updateId} did to`);
  if (left) return left;
  const progress = judge(run, units, phase);
  return progress.kind === 'met' || progress.kind === 'going' ? { kind: 'met', units } : progress;
}

const each = ({ input }: DeployRun): { readonly each?: true } => (input.spec.lockstep ? { each: true } : {});

const judge = (run: DeployRun, units: readonly UnitProgress[], { success }: PhasePlan): Progress =>
  (run.input.spec.lockstep ? judgeEach : judgeProgress)(units, success);

/** The counts as they are now, however long the push type takes to tell them. */
const look = (run: DeployRun, updateId: string, control: UpdateControl) =>
  insist(run, 'trackUpdates', (push) => push.trackUpdates(run.call, updateId), control.leave);

/** A push type that refuses does not keep a person from resuming, cancelling or reverting; it is said, and no more. */
export async function inFleet(
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
export async function giveUp(run: DeployRun, updateId: string): Promise<UpdateEnd> {
  const answer = await insist(
    run,
    'cancelUpdates',
    (push) => push.cancelUpdates(run.call, updateId),
    () => false,
  );
  if (answer && 'refused' in answer) run.note('trouble', `cancelling the updates was refused: ${answer.refused}`);
  return { kind: 'left' };
}

/** Nothing of an update that met its criterion goes on once the deploy pauses, stops or leaves its phase. */
export async function stopRest(run: DeployRun): Promise<void> {
  const { rest } = run;
  run.rest = null;
  if (rest !== null) await giveUp(run, rest);
}
