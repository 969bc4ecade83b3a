import { type PhasePlan } from '../../domain/deploy/plan';
import type { Named } from '../../domain/deploy/snapshot';
import { isUntried, namesOf, skipsUnavailable, unitNames } from '../../domain/deploy/unavailable';
import { FLEET_LIMITS } from '../../domain/fleet/limits';
import { dependable, resumed } from './dependable';
import { whilePaused } from './pause';
import type { DeployRun } from './run';

/**
 * What becomes of units that are unavailable: with `skip` they are left out, and a follow-on brings them to the version when
 * they return; with `pause`, where nothing else is left, and where they are more than may be left out, a person says when to go on.
 * @param units how many there are in all.
 * @returns whether the units have to be looked at again.
 */
export async function heedUnavailable(run: DeployRun, down: Named, units: number): Promise<'again' | undefined> {
  if (!skipsUnavailable(run.input)) return down.count === 0 ? undefined : waitForThem(run, down, undefined);
  if (down.count > FLEET_LIMITS.leftOut) return waitForThem(run, down, 'again', TOO_MANY);
  const isAll = down.count > 0 && down.count === units;
  return !isAll || run.input.followOn ? leaveOut(run, down.names) : waitForThem(run, down, 'again');
}

const TOO_MANY = `; a deploy leaves out at most ${FLEET_LIMITS.leftOut}`;

/**
 * A phase that begins. The first tasks that a version meets are to be those of the first phase: when all of that is
 * unavailable, a person says whether to wait for it, or to begin with the next, which may be larger.
 */
export async function untilFirstIsThere(run: DeployRun, phase: PhasePlan, leave: () => boolean): Promise<void> {
  while (run.record.skipped.length > 0 && isFirst(run, phase) && !leave()) {
    const look = await lookAt(run, phase, leave);
    if (look === undefined) return;
    const { units, unavailable: down, allUnavailable } = look;
    if (down.count < units || units === 0) {
      if (allUnavailable.count <= FLEET_LIMITS.leftOut) leaveOut(run, allUnavailable.names);
      return;
    }
    await waitForFirst(run, phase, down, leave);
  }
}

/**
 * In the middle of a phase whose tasks did not come up in time: units that have become unavailable since are left out as well.
 * @param giveUp what is under way, before that.
 * @returns whether there are any, so that the rest of the phase may be tried without them.
 */
export async function leaveOutLost(
  run: DeployRun,
  phase: PhasePlan,
  leave: () => boolean,
  giveUp: () => Promise<unknown>,
): Promise<boolean> {
  const { skipped, fleet } = run.record;
  if (!skipsUnavailable(run.input)) return false;
  const look = await lookAt(run, phase, () => run.stop() !== null);
  const all = look?.allUnavailable.names ?? [];
  const lost = all.filter((id) => !skipped.includes(id));
  const left = (fleet?.units ?? 0) - skipped.length;
  if (look === undefined || lost.length === 0 || lost.length === left) return false;
  if (look.allUnavailable.count > FLEET_LIMITS.leftOut) return false;
  await giveUp();
  if (look.unavailable.count === look.units && isFirst(run, phase))
    await waitForFirst(run, phase, { count: lost.length, names: lost }, leave);
  else leaveOut(run, [...skipped, ...lost]);
  return true;
}

/** Whether the version is to meet its first tasks in this phase, which an emergency does not wait for. */
const isFirst = ({ input, record }: DeployRun, { kind }: PhasePlan): boolean =>
  skipsUnavailable(input) && !input.emergency && kind === 'partial' && isUntried(record);

async function lookAt(run: DeployRun, { scope, amount }: PhasePlan, leave: () => boolean) {
  const look = await dependable(
    run,
    'fetchDeployUnits',
    (push) => push.lookAtPhase(run.call, { scope, amount }),
    leave,
  );
  return look?.value;
}

async function waitForFirst(run: DeployRun, { name }: PhasePlan, down: Named, leave: () => boolean): Promise<void> {
  const meets = `the first that would meet ${run.input.version}`;
  run.pause(
    'unit',
    `${namesOf(down)} ${isOrAre(down)} unavailable, and with ${down.count === 1 ? 'it' : 'them'} all of phase ${name}, ` +
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
  if (back.length > 0) run.note('units-back', `${unitNames(back)} ${back.length === 1 ? 'is' : 'are'} available again`);
}

async function waitForThem<T>(run: DeployRun, down: Named, then: T, why = ''): Promise<T> {
  run.pause('unit', `${namesOf(down)} ${isOrAre(down)} unavailable${why}; resume when ${itIs(down)} back`);
  await whilePaused(run);
  return then;
}

const isOrAre = ({ count }: Named): string => (count === 1 ? 'is' : 'are');
const itIs = ({ count }: Named): string => (count === 1 ? 'it is' : 'they are');
