import { planCanary, planDeploy, planRollback, PlanError, withoutBakes } from '../../domain/deploy/plan';
import { cancelled, type Ending } from '../../domain/deploy/outcome';
import { asBefore } from '../../domain/deploy/planRevert';
import { change, withPlan } from '../../domain/deploy/state';
import type { Unit } from '../../domain/fleet/unit';
import { dependable, insist } from './dependable';
import { whilePaused } from './pause';
import type { DeployRun } from './run';

/**
 * Validates the configuration with the push type, reads the units, snapshots what each runs, and plans. Nothing was
 * touched yet, so that what cannot work ends the deploy here.
 * @returns the ending when there is nothing to go on with.
 */
export async function prepare(run: DeployRun, again?: 'again'): Promise<Ending | undefined> {
  if (run.record.plan !== null && !again) return undefined;
  const stopped = () => run.stop() !== null;
  const valid = await insist(run, 'validateConfig', (push) => push.validateConfig(run.call), stopped);
  if (valid === undefined) return left(run);
  if ('refused' in valid) return { kind: 'failed', reason: valid.refused, fault: 'conveyor' };
  if (valid.value.length > 0) {
    const problems = valid.value.map(({ path, message }) => `${path}: ${message}`).join('; ');
    return {
      kind: 'failed',
      reason: `${run.input.spec.pushType} does not accept the configuration: ${problems}`,
      fault: 'change',
    };
  }
  const fetched = await insist(run, 'fetchDeployUnits', (push) => push.fetchDeployUnits(run.call), stopped);
  if (fetched === undefined) return left(run);
  if ('refused' in fetched) return { kind: 'failed', reason: fetched.refused, fault: 'conveyor' };
  return plan(run, fetched.value.service, fetched.value.units);
}

/** The units as they are now. New ones are added to the snapshot, so that a revert knows what they ran. */
export async function fetchUnits(run: DeployRun): Promise<readonly Unit[]> {
  const fetched = await dependable(
    run,
    'fetchDeployUnits',
    (push) => push.fetchDeployUnits(run.call),
    () => run.stop() !== null,
  );
  if (fetched === undefined) return run.record.snapshot;
  const { units } = fetched.value;
  const before = asBefore(units, run.input.revertTo);
  const known = new Set(run.record.snapshot.map(({ id }) => id));
  run.patch({ snapshot: [...run.record.snapshot, ...before.filter(({ id }) => !known.has(id))] });
  await waitForUnavailable(run, units);
  return units;
}

async function plan(run: DeployRun, service: string, units: readonly Unit[]): Promise<Ending | undefined> {
  const { spec, artifacts, version, rollback, emergency, canary } = run.input;
  try {
    const planned = canary
      ? planCanary(spec, units, artifacts, version, canary)
      : (rollback ? planRollback : planDeploy)(spec, units, artifacts, version);
    const made = emergency?.skipBake ? withoutBakes(planned) : planned;
    run.set((record, now) => change(withPlan(record, made, asBefore(units, run.input.revertTo), service), now, {}));
    run.note(
      'planned',
      `${made.phases.length} phases over ${units.length} units: ${made.phases.map(({ name }) => name).join(', ')}`,
    );
  } catch (error) {
    if (error instanceof PlanError) return { kind: 'failed', reason: error.message, fault: 'change' };
    throw error;
  }
  await waitForUnavailable(run, units);
  return run.stop() ? left(run) : undefined;
}

/** A unit whose region is down pauses the deploy until a person resumes it (`onUnitUnavailable: pause`). */
async function waitForUnavailable(run: DeployRun, units: readonly Unit[]): Promise<void> {
  const down = units.filter((unit) => !unit.available).map(({ id }) => id);
  if (down.length === 0) return;
  run.pause(
    'unit',
    `${down.join(', ')} ${down.length === 1 ? 'is' : 'are'} unavailable; resume when ${down.length === 1 ? 'it is' : 'they are'} back`,
  );
  await whilePaused(run);
}

/** It was ended before anything was touched. */
function left(run: DeployRun): Ending {
  const stop = run.stop();
  const { revert } = run.record.control;
  if (stop?.kind === 'revert')
    return {
      kind: 'reverted',
      by: stop.by,
      reason: stop.reason,
      bad: revert?.notBad !== true,
      paused: revert?.paused ?? null,
    };
  return cancelled(run.record.control, false);
}
