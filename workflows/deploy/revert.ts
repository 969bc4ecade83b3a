import { toCounts } from '../../domain/deploy/counts';
import type { RevertPlan } from '../../domain/deploy/planRevert';
import type { Ending } from '../../domain/deploy/outcome';
import { change } from '../../domain/deploy/state';
import type { UnitProgress } from '../../domain/fleet/unit';
import { updateId } from '../../domain/ids';
import { formatTime } from '../../domain/text';
import { joinAsGuest } from './guests';
import { shiftBack } from './lockstep';
import type { DeployRun, Stop } from './run';
import { runUpdates, type UpdateEnd } from './updates';

/**
 * Brings every task that this deploy touched back to what it ran before, by the same runner as a phase. A revert can be
 * paused, not cancelled; when the old version does not come up it is tried again until it does or a person ends it.
 */
export async function revert(run: DeployRun, stop: Extract<Stop, { kind: 'revert' }>): Promise<Ending> {
  const { control } = run.record;
  const bad = stop.by === 'health' || control.revert?.notBad !== true;
  const paused = stop.by === 'health' ? null : (control.revert?.paused ?? null);
  const ending = { kind: 'reverted' as const, by: stop.by, reason: stop.reason, bad, paused };
  const plan = run.planRevert();
  if (plan === null) return ending;
  if ('impossible' in plan) return cannotRevert(run, ending, plan.impossible);
  begin(run, stop, plan);
  for (let attempt = 1; ; attempt += 1) {
    const end = await tryOnce(run, plan, attempt);
    if (end.kind === 'met') return done(run, ending);
    const ended = await stuck(run, ending, end, attempt);
    if (ended) return ended;
  }
}

type Reverted = Extract<Ending, { kind: 'reverted' | 'revert-failed' }>;

function begin(run: DeployRun, stop: Extract<Stop, { kind: 'revert' }>, plan: RevertPlan): void {
  const units = plan.targets.map(({ unit, version }) => ({
    id: unit,
    targeted: 0,
    updated: 0,
    live: 0,
    toVersion: version,
  }));
  run.enter('reverting');
  run.set((record, now) =>
    change(record, now, {
      revert: { by: stop.by, reason: stop.reason, startedAt: formatTime(now), endedAt: null, units },
    }),
  );
  run.note('reverting', `reverting, ${stop.by === 'health' ? 'by itself' : `asked by ${stop.by}`}: ${stop.reason}`);
}

async function tryOnce(run: DeployRun, plan: RevertPlan, attempt: number): Promise<UpdateEnd> {
  const id = updateId(run.workflowId, 'revert', attempt);
  const ended = () => run.record.revertStuck && run.record.control.cancel !== null;
  const request = { updateId: id, targets: plan.targets, wholeUnit: false, urgency: 'revert' as const };
  const hold = async (): Promise<void> => {
    await run.until(() => run.paused === null || run.record.control.resuming !== null || ended());
    const asked = run.record.control.resuming;
    if (asked) run.unpause(`resumed by ${asked.actor}`);
  };
  await hold();
  if (attempt === 1) await shiftBack(run, ended);
  await joinAsGuest(run, id);
  return runUpdates(run, plan.phase, request, {
    leave: ended,
    closed: () => false,
    hold,
    show: (units) => show(run, units),
  });
}

function show(run: DeployRun, progress: readonly UnitProgress[]): void {
  const { revert: view } = run.record;
  if (view === null) return;
  const units = view.units.map((unit) => {
    const seen = progress.find(({ id }) => id === unit.id);
    return seen ? { ...toCounts(seen), toVersion: unit.toVersion } : unit;
  });
  run.patch({ revert: { ...view, units } });
}

function done(run: DeployRun, ending: Reverted): Ending {
  run.set((record, now) =>
    change(record, now, {
      revertStuck: false,
      revert: record.revert && { ...record.revert, endedAt: formatTime(now) },
      phases: record.phases.map((phase) =>
        phase.startedAt === null || phase.units.length === 0 ? phase : { ...phase, state: 'reverted' as const },
      ),
    }),
  );
  run.note('updates-reverted', 'every task that it updated is back on what it ran before');
  return ending;
}

const MAX_RETRY_FACTOR = 12;

/** Loudly paused; tries again by itself after a while, or at once when a person resumes. Only a person ends it. */
async function stuck(
  run: DeployRun,
  ending: Reverted,
  end: Exclude<UpdateEnd, { kind: 'met' }>,
  attempt: number,
): Promise<Ending | undefined> {
  run.patch({ revertStuck: true });
  if (end.kind !== 'left') {
    if (end.kind === 'refused') run.pause('dependency', end.reason);
    else run.pause('timeout', `the old version does not come up: ${end.reason}`);
    const wake = () => run.record.control.resuming !== null || run.record.control.cancel !== null;
    // Later and later, so that weeks of trying fit into one history.
    const afterMs = run.input.settings.revertRetryMs * Math.min(attempt, MAX_RETRY_FACTOR);
    await run.until(wake, { afterMs, summary: 'revert: try again' });
  }
  const { cancel } = run.record.control;
  if (cancel) return { ...ending, kind: 'revert-failed', by: cancel.actor, reason: cancel.reason };
  run.unpause('trying the revert again');
  return undefined;
}

/** Nothing is known to go back to: a person has to decide (DESIGN §5 "Revert"). */
async function cannotRevert(run: DeployRun, ending: Reverted, units: readonly string[]): Promise<Ending> {
  run.patch({ revertStuck: true });
  run.enter('reverting');
  run.pause(
    'unit',
    `cannot revert: nothing is known about what ${units.join(', ')} ran before; deploy a good version instead, then cancel`,
  );
  await run.until(() => run.record.control.cancel !== null);
  const { cancel } = run.record.control;
  return { ...ending, kind: 'revert-failed', by: cancel?.actor ?? 'somebody', reason: cancel?.reason ?? '' };
}
