import type { PhasePlan } from '../../domain/deploy/plan';
import { findStop } from '../../domain/deploy/stop';
import type { NamedUnits } from '../../domain/deploy/snapshot';
import {
  leaveOutUnits,
  meetsFirst,
  formatNamed,
  ofUnavailable,
  skipsUnavailable,
  whyFirstWaits,
} from '../../domain/deploy/unavailable';
import { FLEET_LIMITS } from '../../domain/fleet/limits';
import { isInterruption, throwIfInterrupted } from '../interrupts';
import { untilResumed } from './calls';
import { whilePaused } from './pause';
import { callOrPause } from './refusals';
import type { HealthWatcher } from './needs';

/**
 * Decides about unavailable units. @param units the number of all units. @returns 'again' if the units have to be looked at again.
 */
export async function heedUnavailable(
  run: HealthWatcher,
  down: NamedUnits,
  units: number,
): Promise<'again' | undefined> {
  const decided = ofUnavailable(run.input, down, units);
  if (decided.kind === 'leave-out') return leaveOut(run, decided.units);
  run.pause('unit', decided.reason);
  await whilePaused(run);
  return decided.again ? 'again' : undefined;
}

/**
 * Called as a phase begins. The tasks of the first phase should be the first that a version meets. If all of them are
 * unavailable, a person decides whether to wait for them, or to begin with the next phase, which may be larger.
 */
export async function untilFirstIsThere(run: HealthWatcher, phase: PhasePlan): Promise<void> {
  while (run.record.skipped.length > 0 && meetsFirst(run.record, run.input, phase)) {
    const { units, unavailable: down, allUnavailable } = await lookAt(run, phase);
    if (down.count < units || units === 0) {
      if (allUnavailable.count <= FLEET_LIMITS.leftOut) leaveOut(run, allUnavailable.names);
      return;
    }
    await waitForFirst(run, phase, down);
  }
}

/**
 * Called in the middle of a phase whose tasks did not come up in time: units that have become unavailable since are left out too.
 * @param giveUp gives up the updates under way, and is called first.
 * @returns whether there are any, so that the rest of the phase may be tried without them.
 */
export async function leaveOutLost(
  run: HealthWatcher,
  phase: PhasePlan,
  giveUp: () => Promise<unknown>,
): Promise<boolean> {
  const { skipped, fleet } = run.record;
  if (!skipsUnavailable(run.input)) return false;
  const look = await lookAt(run, phase);
  const lost = look.allUnavailable.names.filter((id) => !skipped.includes(id));
  const left = (fleet?.units ?? 0) - skipped.length;
  if (lost.length === 0 || lost.length === left) return false;
  if (look.allUnavailable.count > FLEET_LIMITS.leftOut) return false;
  await giveUp();
  // It ends even if the deploy is interrupted.
  throwIfInterrupted();
  if (look.unavailable.count === look.units && meetsFirst(run.record, run.input, phase))
    await waitForFirst(run, phase, { count: lost.length, names: lost });
  else leaveOut(run, [...skipped, ...lost]);
  return true;
}

/** Units that were deleted during a rollback are left out like those that are away, up to the limit of the record. */
export function leaveOutGone(run: HealthWatcher, gone: NamedUnits): void {
  run.note('rollback-without', `rolled back without ${formatNamed(gone)}: gone`);
  const { skipped } = run.record;
  if (skipped.length + gone.count <= FLEET_LIMITS.leftOut) leaveOut(run, [...skipped, ...gone.names]);
}

const lookAt = (run: HealthWatcher, { scope, amount }: PhasePlan) =>
  callOrPause(run, 'fetchDeployUnits', (push) => push.lookAtPhase(run.call, { scope, amount }));

async function waitForFirst(run: HealthWatcher, phase: PhasePlan, down: NamedUnits): Promise<void> {
  run.pause('unit', whyFirstWaits(run.input, phase, down));
  try {
    await untilResumed(run);
  } catch (error) {
    const isSkipped = isInterruption(error) && findStop(run.record) === null;
    if (isSkipped && run.paused?.by === 'unit') run.unpause('the phase is skipped');
    throw error;
  }
}

const leaveOut = (run: HealthWatcher, down: readonly string[]): undefined =>
  void run.set((record, now) => leaveOutUnits(record, down, now));
