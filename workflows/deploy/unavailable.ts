import { present, skipsUnavailable, unavailable, unitNames } from '../../domain/deploy/unavailable';
import type { Unit } from '../../domain/fleet/unit';
import { dependable } from './dependable';
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
 * In the middle of a phase whose tasks did not come up in time: units that have become unavailable since are left out as well.
 * @returns whether there are any, so that the rest of the phase may be tried without them.
 */
export async function leaveOutLost(run: DeployRun): Promise<boolean> {
  if (!skipsUnavailable(run.input)) return false;
  const wake = () => run.stop() !== null;
  const fetched = await dependable(run, 'fetchDeployUnits', (push) => push.fetchDeployUnits(run.call), wake);
  const known = new Set(present(run.record).map(({ id }) => id));
  const lost = unavailable(fetched?.value.units ?? []).filter((id) => known.has(id));
  if (lost.length === 0 || lost.length === known.size) return false;
  leaveOut(run, [...run.record.skipped, ...lost]);
  return true;
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
  const back = down.length === 1 ? 'it is' : 'they are';
  run.pause('unit', `${down.join(', ')} ${isOrAre(down)} unavailable; resume when ${back} back`);
  await whilePaused(run);
  return then;
}

const isOrAre = (units: readonly string[]): string => (units.length === 1 ? 'is' : 'are');
