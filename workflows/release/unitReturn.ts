import { unitNames } from '../../domain/deploy/unavailable';
import type { FollowOn } from '../../domain/pipeline/state';
import type { DeployAction } from '../../domain/spec/pipeline';
import { formatSummary } from '../../domain/markdown';
import { unitWaits } from '../proxies';
import { BackgroundTasks, waitFor } from '../waitFor';
import type { ReleaseSession } from './session';

/**
 * A follow-on waits, for weeks if necessary, until one of its units is available again, before it asks for its turn. The wait ends
 * early if the release ends, or if its pipeline no longer needs it; the answer to its request for a turn then gives the reason.
 * @returns `gone` if its units no longer exist.
 */
export async function untilUnitsReturn(
  run: ReleaseSession,
  name: string,
  { with: { pushType, config } }: DeployAction,
  { units }: FollowOn,
): Promise<'gone' | undefined> {
  const { spec, number, trigger, settings } = run.input;
  const isOne = units.length === 1;
  run.patch(name, {
    state: 'blocked',
    blockedBy: `waiting until ${unitNames(units)} ${isOne ? 'is' : 'are'} available again`,
  });
  const deployId = run.deploys.workflowId(name);
  const call = { pushType, pipeline: spec.pipeline, release: number, deployId, actor: trigger.actor, config };
  const background = new BackgroundTasks();
  const summary = formatSummary(`until ${unitNames(units)} ${isOne ? 'is' : 'are'} back`);
  const waited = await waitFor(
    background,
    () => unitWaits().waitForUnits.executeWithOptions({ summary }, [call, units, settings.waitIntervalMs]),
    { wake: () => run.control.ending !== null || run.overtaken !== null || run.admissions.has(name) },
  );
  await background.drain();
  if (waited.kind === 'failed') throw waited.error;
  return waited.kind === 'done' && waited.value.available.length === 0 ? 'gone' : undefined;
}
