import { patched } from '@temporalio/workflow';
import {
  planCanary,
  planDeploy,
  planFollowOn,
  planRollback,
  PlanError,
  withoutBakes,
  type DeployPlan,
} from '../../domain/deploy/plan';
import { cancelled, type Ending } from '../../domain/deploy/outcome';
import { asBefore } from '../../domain/deploy/planRevert';
import { change, withPlan } from '../../domain/deploy/state';
import { concerned, skipsUnavailable, withoutThem } from '../../domain/deploy/unavailable';
import type { Unit } from '../../domain/fleet/unit';
import { dependable, insist } from './dependable';
import { cannotShift } from './lockstep';
import type { DeployRun } from './run';
import { heedUnavailable } from './unavailable';

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
  const hopeless = await cannotShift(run);
  if (hopeless) return hopeless;
  return plan(run, fetched.value.service, concerned(fetched.value.units, run.input));
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
  const before = asBefore(toUpdate(run, units), run.input.revertTo);
  const known = new Set(run.record.snapshot.map(({ id }) => id));
  const joined = before.filter(({ id }) => !known.has(id)).map((unit) => ({ ...unit, joined: true as const }));
  run.patch({ snapshot: [...run.record.snapshot, ...joined] });
  const again = await heedUnavailable(run, units);
  return again && run.stop() === null ? fetchUnits(run) : toUpdate(run, units);
}

async function plan(run: DeployRun, service: string, units: readonly Unit[]): Promise<Ending | undefined> {
  try {
    const made = planOf(run, units);
    const before = asBefore(toUpdate(run, units), run.input.revertTo);
    run.set((record, now) => change(withPlan(record, made, before, service), now, {}));
    run.note(
      'planned',
      `${made.phases.length} phases over ${units.length} units: ${made.phases.map(({ name }) => name).join(', ')}`,
    );
  } catch (error) {
    if (error instanceof PlanError) return { kind: 'failed', reason: error.message, fault: 'change' };
    throw error;
  }
  const again = await heedUnavailable(run, units);
  if (run.stop()) return left(run);
  if (again) return prepare(run, 'again');
  const { skipped } = run.record;
  return run.input.followOn && skipped.length === units.length
    ? { kind: 'succeeded', reason: `nothing was updated, ${withoutThem(skipped)}` }
    : undefined;
}

function planOf({ input }: DeployRun, units: readonly Unit[]): DeployPlan {
  const { spec, artifacts, version, rollback, emergency, canary, followOn } = input;
  if (canary) return planCanary(spec, units, artifacts, version, canary);
  const make = followOn ? planFollowOn : rollback ? planRollback : planDeploy;
  // Rollbacks of before went in one step.
  const lockstep = spec.lockstep && !(rollback && !patched('rollback-in-step'));
  const planned = make({ ...spec, lockstep }, units, artifacts, version);
  return emergency?.skipBake ? withoutBakes(planned) : planned;
}

/** All of them, or those that are there. */
const toUpdate = (run: DeployRun, units: readonly Unit[]): readonly Unit[] =>
  skipsUnavailable(run.input) ? units.filter(({ available }) => available) : units;

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
