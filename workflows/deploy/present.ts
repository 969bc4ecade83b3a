import { patched } from '@temporalio/workflow';
import { dependable } from './dependable';
import { lookRequest } from './prepare';
import type { DeployRun } from './run';

/**
 * What a canary goes back to: each unit to what it runs now, not to what it ran before, since a deploy may have gone on, or back,
 * meanwhile.
 * @returns whether that is something else than at the last look.
 */
export async function lookAtPresent(run: DeployRun): Promise<boolean> {
  const { fleet } = run.record;
  if (fleet === null) return false;
  const look = { ...lookRequest(run.input), asNow: true as const };
  const never = () => false;
  const call = 'fetchDeployUnits';
  const fetched = await dependable(run, call, (push) => push.fetchAgain(run.call, fleet.snapshot, look), never);
  if (fetched === undefined) return false;
  const { now, withoutPast, moved } = fetched.value;
  run.patch({ fleet: { ...fleet, snapshot: now, withoutPast } });
  return moved;
}

/** Between that look and the update a deploy of the same units may have begun to go back: then the canary follows it. */
export const hasMovedSince = async (run: DeployRun): Promise<boolean> =>
  run.input.canary !== undefined && patched('canary-looks-again') && (await lookAtPresent(run));
