import { patched } from '@temporalio/workflow';
import type { SentRemoval } from '../../activities/removals';
import type { SentUpdates } from '../../activities/updateSender';
import { createCancelledEnding, type Ending } from '../../domain/deploy/outcome';
import { withCounts } from '../../domain/deploy/counts';
import { everyUnit, listSnapshotIds, NONE_NAMED } from '../../domain/deploy/snapshot';
import { withPhase, withPlan, withRemoved, type DeployRecord, type Fleet } from '../../domain/deploy/state';
import type { PhasePlan } from '../../domain/deploy/plan';
import { formatRemovedCount } from '../../domain/deploy/view';
import { describeKeptUnits } from '../../domain/deploy/keptUnitsText';
import { describeUnlisted, haveTasks, type UnlistedUnits } from '../../domain/deploy/unlistedUnits';
import { updateId } from '../../domain/ids';
import { retryAfterMs } from '../../domain/settings';
import { formatTime, plural, withReason } from '../../domain/text';
import { until, waitOut } from '../waitFor';
import { callUntilAnswered } from './calls';
import { passGates, whileHalted } from './gates';
import { buildPlanRequest } from './prepare';
import type { UpdateRunner } from './needs';
import { runUpdates } from './updates';
import type { UpdateEnd, UpdateOrder } from './update';

/**
 * Removes all units of a deploy whose pipeline is undeployed, except those that another pipeline has updated since. It is not judged by health, and
 * nothing goes back. Units are listed before each try, and once more after it, since a push type may call a removal done that is not. It is tried
 * until no task is left or a person cancels it. Units that its pipeline is known to have and that are not listed are waited for while they have
 * tasks, and named in the outcome if their tasks cannot be counted.
 */
export async function removeEveryUnit(run: UpdateRunner): Promise<Ending> {
  const unable = await findUnable(run);
  if (unable) return unable;
  let isMet = false;
  for (let attempt = 1; ; attempt += 1) {
    await passGates(run);
    run.enter('removing');
    const listed = await listUnits(run);
    if ('kind' in listed) return listed;
    if (listed.fleet.tasks === 0 && (await isEmptyForSure(run, listed.fleet))) {
      run.set((record) => withRemoved(record, listed.fleet));
      const lost = await lookForLost(run, listed);
      if (lost !== 'listed' && (lost === undefined || !haveTasks(lost))) return finishRemoval(run, lost);
      isMet = false;
      if (lost !== 'listed') await awaitNextRemoval(run, describeLost(run, lost), attempt);
      continue;
    }
    const end: UpdateEnd = isMet ? describeLeft(listed.fleet) : await tryRemoval(run, listed, attempt);
    isMet = end.kind === 'met' || end.kind === 'empty';
    if (isMet) run.set((record) => withRemoved(record, listed.fleet));
    if (end.kind !== 'met' && end.kind !== 'empty') await awaitNextRemoval(run, end, attempt);
  }
}

/** @returns the ending if the push type cannot remove units. */
async function findUnable(run: UpdateRunner): Promise<Ending | undefined> {
  run.enter('removing');
  const { pushType } = run.input.spec;
  const nothing = { updateId: updateId(run.workflowId, 'remove', 0), selection: everyUnit({ units: [] }, []) };
  const asked = await callUntilAnswered(run, 'removeUnits', (push) => push.removeUnits(run.call, nothing));
  if ('refused' in asked) return { kind: 'failed', reason: asked.refused, fault: 'conveyor' };
  return asked.value.kind === 'unsupported'
    ? { kind: 'failed', reason: `${pushType} cannot remove units`, fault: 'change' }
    : undefined;
}

interface ListedUnits {
  readonly phase: PhasePlan;
  readonly fleet: Fleet;
  readonly unlisted?: UnlistedUnits | undefined;
}

/** The units that exist now; the ending if there are none to remove. */
async function listUnits(run: UpdateRunner): Promise<ListedUnits | Ending> {
  const { removed } = run.record;
  const made = await callUntilAnswered(run, 'fetchDeployUnits', (push) =>
    push.planUnits(run.call, { ...buildPlanRequest(run), ...(removed === undefined ? {} : { removed }) }),
  );
  if ('refused' in made) return { kind: 'failed', reason: made.refused, fault: 'conveyor' };
  if ('impossible' in made.value) {
    const { impossible, isKept } = made.value;
    return isKept ? { kind: 'succeeded', reason: impossible } : { kind: 'failed', reason: impossible, fault: 'change' };
  }
  const { plan, fleet, kept, unlisted } = made.value;
  const [phase] = plan.phases;
  if (phase === undefined) return { kind: 'failed', reason: 'nothing is planned', fault: 'conveyor' };
  const isFirst = run.record.plan === null;
  run.set((record, now) => ({
    ...(isFirst ? beginPhase(withPlan(record, plan, fleet), now) : { ...record, fleet }),
    ...(fleet.tasks > 0 ? { outdated: true as const } : {}),
    ...(kept ? { keptUnits: kept } : {}),
  }));
  if (isFirst && kept) run.note('units-kept', describeKeptUnits(kept));
  if (isFirst) run.note('planned', `removes ${plural(fleet.units, 'unit')} with ${plural(fleet.tasks, 'task')}`);
  return { phase, fleet, unlisted };
}

const beginPhase = (record: DeployRecord, nowMs: number): DeployRecord =>
  withPhase(record, 0, { removes: true, state: 'running', startedAt: formatTime(nowMs) });

/** An inventory may be empty for a moment, so a list without units counts only if it stays so. */
async function isEmptyForSure(run: UpdateRunner, { units }: Fleet): Promise<boolean> {
  if (units > 0) return true;
  await waitOut({ afterMs: run.input.settings.transientMs, summary: 'list the units once more' });
  const again = await listUnits(run);
  return !('kind' in again) && again.fleet.units === 0;
}

/**
 * The units that are not listed, which an inventory may have left out for a moment, after another look; `listed` if it lists some again. Histories
 * from before 2026-12 have no such look.
 */
async function lookForLost(
  run: UpdateRunner,
  { unlisted }: ListedUnits,
): Promise<UnlistedUnits | 'listed' | undefined> {
  if (unlisted === undefined || !patched('a removal looks for units that are not listed')) return undefined;
  run.note('units-unlisted', describeUnlisted(unlisted, run.input.version));
  await waitOut({ afterMs: run.input.settings.transientMs, summary: 'look for units that are not listed' });
  const again = await listUnits(run);
  return 'kind' in again || again.fleet.tasks > 0 ? 'listed' : again.unlisted;
}

const describeLost = ({ input }: UpdateRunner, lost: UnlistedUnits): Extract<UpdateEnd, { kind: 'stuck' }> => ({
  kind: 'stuck',
  reason: describeUnlisted(lost, input.version),
});

const describeLeft = ({ tasks, units }: Fleet): UpdateEnd => ({
  kind: 'stuck',
  reason: `${plural(tasks, 'task')} of ${plural(units, 'unit')} still run, although the removal was called done`,
});

async function tryRemoval(run: UpdateRunner, { phase, fleet }: ListedUnits, attempt: number): Promise<UpdateEnd> {
  const selection = everyUnit(fleet.snapshot, []);
  const id = updateId(run.workflowId, 'remove', attempt);
  const order: UpdateOrder = {
    ...{ updateId: id, selection, removes: true },
    send: async (push, options) => {
      const sent = await push.removeUnits.executeWithOptions(options, [run.call, { updateId: id, selection }]);
      return toSent(id, sent, fleet);
    },
  };
  return runUpdates(run, phase, order, {
    awaitGo: async () => {
      await whileHalted(run);
      run.enter('removing');
    },
    show: (counted) => run.set((record) => ({ ...record, phases: withCounts(record.phases, 0, counted) })),
  });
}

/** All units are taken, or none. A push type that has just had the method may lack it for a moment, while it starts again. */
function toSent(id: string, sent: SentRemoval, { units, snapshot }: Fleet): SentUpdates {
  const none = { updateIds: [id], refused: NONE_NAMED };
  if (sent.kind === 'canaries') return { ...none, count: units, canaries: sent.canaries };
  if (sent.kind === 'sent') return { ...none, count: sent.count };
  const refused = { count: units, names: listSnapshotIds(snapshot) ?? [] };
  return { ...none, count: units, refused, why: 'it has no removeUnits now' };
}

/** @param lost units that are not listed, and whose tasks cannot be counted */
function finishRemoval(run: UpdateRunner, lost: UnlistedUnits | undefined): Ending {
  const { keptUnits } = run.record;
  run.set((record, now) =>
    withRemoved(withPhase(record, 0, { state: 'succeeded', updatedAt: formatTime(now) }), record.fleet ?? {}),
  );
  const done = `every ${keptUnits ? 'other ' : ''}unit${lost ? ' that is listed' : ''} is removed`;
  run.note('removed', done);
  const left = [
    ...(keptUnits ? [describeKeptUnits(keptUnits)] : []),
    ...(lost ? [describeUnlisted(lost, run.input.version)] : []),
  ];
  return { kind: 'succeeded', reason: [done, ...left].join('; ') };
}

/** Waits a while, or until a person resumes. */
async function awaitNextRemoval(
  run: UpdateRunner,
  { reason, ...end }: Exclude<UpdateEnd, { kind: 'met' | 'empty' }>,
  failures: number,
): Promise<void> {
  if (end.kind === 'refused') run.pauseOn(reason);
  else run.pause('unit', `not every task is gone: ${reason}`);
  const afterMs = retryAfterMs(run.input.settings, failures);
  await until(() => run.record.control.resuming !== null, { afterMs, summary: 'removal: try again' });
  run.unpause('trying the removal again');
}

/** A person or another release has stopped it: tasks that are gone stay gone. */
export function stopRemoval(run: UpdateRunner): Ending {
  const { control, phases } = run.record;
  const ending = createCancelledEnding(control, false);
  if (phases.length === 0) return ending;
  run.set((record) => withPhase(record, 0, { state: 'failed' }));
  return { ...ending, reason: withReason(ending.reason, formatRemovedCount(run.record)) };
}
