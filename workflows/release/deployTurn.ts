import type { Artifact } from '../../domain/artifact';
import type { Admission } from '../../domain/release/admission';
import type { LastLook } from '../../domain/release/lastLook';
import { skipsTheQueue } from '../../domain/release/urgent';
import type { DeployAction } from '../../domain/spec/pipeline';
import { awaitAdmission, signalOver } from './admissionRequest';
import { globalGroups, ownGroups, awaitUnhindered } from './guards';
import { awaitRuleApproval, asksRules } from './protection';
import type { ReleaseSession } from './session';
import { isLimited, untilRoom } from './windowRoom';

/** Whether a deploy that has its turn begins now. If not, it waits again, and is checked anew after that. */
export const begins = (look: LastLook | 'waits', givesUp: () => boolean): boolean =>
  look === 'go' || (look !== 'lapsed' && givesUp());

/** Passes its turn, and its groups, on to others. */
export const giveBack = (run: ReleaseSession, name: string): Promise<unknown> =>
  Promise.all([signalOver(run, name, 'deploy'), run.groups.release(name)]);

/** Waits until people have let it continue, if they have to. @returns false if the action is already closed. */
export async function awaitApproval(
  run: ReleaseSession,
  name: string,
  artifacts: readonly Artifact[],
): Promise<boolean> {
  if (!asksRules(run)) return true;
  const pick = isPickedByHand(run) ? { principals: [], timeoutMs: undefined } : undefined;
  const decision = await awaitRuleApproval(run, { action: name, artifacts, ...(pick && { pick }) });
  if (!decision.approved) decision.close();
  return decision.approved;
}

/**
 * With `schedule: manual` a person starts the deploys of each release. Rollbacks, emergencies, and deploys that belong
 * to the rollout of another release do not wait for that.
 */
function isPickedByHand({ input, record }: ReleaseSession): boolean {
  const { mode, gates } = input.spec.schedule;
  const isDeploying = (name: string): boolean =>
    input.spec.actions[name]?.type === 'deploy' && record.actions[name]?.deploying === true;
  const hasBegun = record.deploys.length > 0 || Object.keys(record.actions).some(isDeploying);
  return mode === 'manual' && gates === 'deploys' && !skipsTheQueue(input.trigger) && !hasBegun;
}

/**
 * Waits for everything that the deploy needs. During a wait after its admission, its artifact may become known-bad, or the pipeline may be
 * held. So the pipeline is asked again until it says yes and nothing else is in the way.
 * @param isAgain it has its turn, and its groups, and keeps them while it waits
 */
export async function itsTurn(
  run: ReleaseSession,
  name: string,
  action: DeployAction,
  artifacts: readonly Artifact[],
  givesUp: () => boolean,
  isAgain = false,
): Promise<Admission | undefined> {
  const global = globalGroups(run, action);
  const isCounted = isLimited(run, action);
  const asking = { kind: 'deploy' as const, artifacts, mutex: ownGroups(run, action) };
  // Other deploys may have begun while it waited for its turn. Then it gives its turn back, and waits in line.
  const room = () => untilRoom(run, name, action, asking, () => giveBack(run, name).then(() => undefined));
  for (let isFirst = !isAgain || (isCounted && (await room())); ;) {
    if (isCounted && (await untilRoom(run, name, action, asking)) && run.admissions.has(name))
      return run.admissions.get(name);
    run.patch(name, { state: 'blocked', blockedBy: 'waiting for its turn to deploy' });
    const admission = await awaitAdmission(run, name, asking, isFirst ? undefined : givesUp);
    const sinceMs = Date.now();
    if (admission?.kind === 'granted' && isFirst && global.length > 0)
      await run.groups.hold(run, name, global, givesUp);
    if (admission?.kind === 'granted') await awaitUnhindered(run, name, givesUp);
    const isStill = Date.now() === sinceMs;
    if (admission?.kind !== 'granted' || givesUp()) return admission;
    isFirst = isCounted && (await room());
    if (!isFirst && isStill) return admission;
  }
}
