import { patched } from '@temporalio/workflow';
import { asBefore } from '../../domain/deploy/planRevert';
import { unitsOf, type PhasePlan } from '../../domain/deploy/plan';
import { isUntried, present, skipsUnavailable, unavailable, unitNames } from '../../domain/deploy/unavailable';
import type { Unit } from '../../domain/fleet/unit';
import { dependable, resumed } from './dependable';
import { whilePaused } from './pause';
import type { DeployRun } from './run';

/**
 * What becomes of units that are unavailable: with `skip` they are left out, and a follow-on brings them to the version when
 * they return; with `pause`, and where nothing else is left, a person says when to go on.
 * @returns whether the units have to be looked at again.
 */
export async function heedUnavailable(run: DeployRun, units: readonly Unit[]): Promise<'again' | undefined> {
  const down = unavailable(units);
  if (skipsUnavailable(run.input)) {
    const isAll = down.length > 0 && down.length === units.length;
    if (!isAll || run.input.followOn) return leaveOut(run, down);
    return waitForThem(run, down, 'again');
  }
  return down.length === 0 ? undefined : waitForThem(run, down, undefined);
}

/**
 * The units of a phase that begins. The first tasks that a version meets are to be those of the first phase: when all of that is
 * unavailable, a person says whether to wait for it, or to begin with the next, which may be larger.
 */
export async function unitsToBegin(
  run: DeployRun,
  phase: PhasePlan,
  units: readonly Unit[],
  leave: () => boolean,
): Promise<readonly Unit[]> {
  const isGone = unitsOf(phase, units).every(({ id }) => run.record.skipped.includes(id));
  if (!isGone || run.record.skipped.length === 0 || !isFirst(run, phase)) return units;
  while (!leave()) {
    const now = await fetchAll(run, leave);
    const inside = unitsOf(phase, now);
    const down = unavailable(inside);
    if (down.length === 0 || down.length < inside.length) {
      take(run, now);
      break;
    }
    await waitForFirst(run, phase, down, leave);
  }
  return run.record.snapshot;
}

/**
 * In the middle of a phase whose tasks did not come up in time: units that have become unavailable since are left out as well.
 * @returns whether there are any, so that the rest of the phase may be tried without them.
 */
export async function leaveOutLost(run: DeployRun, phase: PhasePlan, leave: () => boolean): Promise<boolean> {
  if (!skipsUnavailable(run.input)) return false;
  const now = await fetchAll(run, () => run.stop() !== null);
  const known = new Set(present(run.record).map(({ id }) => id));
  const lost = unavailable(now).filter((id) => known.has(id));
  if (lost.length === 0 || lost.length === known.size) return false;
  const inside = unitsOf(phase, present(run.record));
  if (inside.every(({ id }) => lost.includes(id)) && isFirst(run, phase)) await waitForFirst(run, phase, lost, leave);
  else leaveOut(run, [...run.record.skipped, ...lost]);
  return true;
}

/** Whether the version is to meet its first tasks in this phase, which an emergency does not wait for. */
const isFirst = ({ input, record }: DeployRun, { kind }: PhasePlan): boolean =>
  skipsUnavailable(input) && !input.emergency && kind === 'partial' && isUntried(record) && patched('first-phase');

async function fetchAll(run: DeployRun, leave: () => boolean): Promise<readonly Unit[]> {
  const fetched = await dependable(run, 'fetchDeployUnits', (push) => push.fetchDeployUnits(run.call), leave);
  return fetched?.value.units ?? [];
}

/** Units that are back, before anything went to them: they belong to every phase again. */
function take(run: DeployRun, units: readonly Unit[]): void {
  const known = new Set(run.record.snapshot.map(({ id }) => id));
  const back = units.filter(({ id, available }) => available && !known.has(id));
  run.patch({ snapshot: [...run.record.snapshot, ...asBefore(back, run.input.revertTo)] });
  leaveOut(run, unavailable(units));
}

async function waitForFirst(
  run: DeployRun,
  { name }: PhasePlan,
  down: readonly string[],
  leave: () => boolean,
): Promise<void> {
  const meets = `the first that would meet ${run.input.version}`;
  run.pause(
    'unit',
    `${unitNames(down)} ${isOrAre(down)} unavailable, and with ${down.length === 1 ? 'it' : 'them'} all of phase ${name}, ` +
      `${meets}; resume when ${itIs(down)} back, or skip-phase to begin with the next`,
  );
  await resumed(run, leave);
  if (leave() && run.stop() === null && run.paused?.by === 'unit') run.unpause('the phase is skipped');
}

/** From now on they are no part of any phase; those that are back are. */
function leaveOut(run: DeployRun, down: readonly string[]): undefined {
  const { skipped } = run.record;
  const fresh = down.filter((id) => !skipped.includes(id));
  const back = skipped.filter((id) => !down.includes(id));
  if (fresh.length + back.length === 0) return;
  run.patch({ skipped: down });
  if (fresh.length > 0) run.note('units-skipped', `goes on without ${unitNames(fresh)}, unavailable`);
  if (back.length > 0) run.note('units-back', `${unitNames(back)} ${isOrAre(back)} available again`);
}

async function waitForThem<T>(run: DeployRun, down: readonly string[], then: T): Promise<T> {
  run.pause('unit', `${down.join(', ')} ${isOrAre(down)} unavailable; resume when ${itIs(down)} back`);
  await whilePaused(run);
  return then;
}

const isOrAre = (units: readonly string[]): string => (units.length === 1 ? 'is' : 'are');
const itIs = (units: readonly string[]): string => (units.length === 1 ? 'it is' : 'they are');
