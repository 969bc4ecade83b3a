import { condition, workflowInfo } from '@temporalio/workflow';
import { deployId } from '../../domain/ids';
import { approvalsNeeded, approvalWords } from '../../domain/release/approval';
import { formatDuration, formatTime, withReason } from '../../domain/text';
import { notify } from './notices';
import type { ReleaseSession } from './session';

/**
 * Before 0.3, without the rules of the platform (protection.ts): an emergency waits until as many other owners have approved it as its pipeline
 * demands. Until then its pipeline does not know of it, so running deploys continue. A rejection or a timeout fails it.
 * @returns false if the action is closed already.
 */
export async function othersApprove(run: ReleaseSession, name: string): Promise<boolean> {
  const { spec, trigger } = run.input;
  const needed = approvalsNeeded(spec, trigger);
  if (needed === 0) return true;
  const timeoutMs = spec.emergency?.timeout ?? 0;
  const untilMs = Date.now() + timeoutMs;
  showApproval(run, name, needed, untilMs);
  run.notices(notifyApprovers(run, name, approvalWords({ needed, by: [], notBy: trigger.actor })));
  while (!isDecided(run, name, needed) && Date.now() < untilMs) {
    const before = approvalsAt(run, name).length;
    const changed = () => isDecided(run, name, needed) || approvalsAt(run, name).length > before;
    await condition(changed, untilMs - Date.now(), { summary: `${name}: nobody approves` });
    showApproval(run, name, needed, untilMs);
  }
  run.patch(name, { approval: null, pickBy: null, blockedBy: null, until: null });
  return decideApproval(run, name, needed, timeoutMs);
}

const approvalsAt = ({ control }: ReleaseSession, name: string) => control.approvals[name] ?? [];

const findRejection = ({ control }: ReleaseSession, name: string) => {
  const picked = control.picks[name];
  return picked?.approve === false ? picked : undefined;
};

const isDecided = (run: ReleaseSession, name: string, needed: number): boolean =>
  run.control.ending !== null || findRejection(run, name) !== undefined || approvalsAt(run, name).length >= needed;

function showApproval(run: ReleaseSession, name: string, needed: number, untilMs: number): void {
  const by = approvalsAt(run, name).map(({ actor }) => actor);
  const approval = { needed, by, notBy: run.input.trigger.actor };
  const blockedBy = approvalWords(approval);
  run.patch(name, { state: 'blocked', blockedBy, approval, pickBy: run.policy.owners, until: formatTime(untilMs) });
}

/** Notifies the receivers of pauses, since the release waits for a person. */
export function notifyApprovers(run: ReleaseSession, name: string, waits: string): Promise<void> {
  const { spec, number, trigger, artifacts } = run.input;
  const id = deployId(spec.pipeline, number, name);
  const what = trigger.kind === 'emergency' ? 'an emergency push' : `release ${number}`;
  return notify(run, 'paused', {
    ...{
      id: `${workflowInfo().workflowId}/${name}/${run.record.actions[name]?.attempt ?? 1}/approval`,
      deploy: id,
      artifacts,
      actor: trigger.actor,
    },
    reason: `${withReason(what, trigger.reason ?? '')}; ${waits}: conveyor pick ${id} --approve`,
  });
}

function decideApproval(run: ReleaseSession, name: string, needed: number, timeoutMs: number): boolean {
  const rejected = findRejection(run, name);
  const approved = approvalsAt(run, name);
  if (run.control.ending) run.closeCancelled(name, run.endedBy());
  else if (rejected) run.close(name, 'failed', withReason(`rejected by ${rejected.actor}`, rejected.reason));
  else if (approved.length < needed)
    run.close(name, 'failed', `${approved.length} of ${needed} approvals within ${formatDuration(timeoutMs)}`);
  else {
    for (const { actor, reason } of approved) run.log('approved', withReason(`approved by ${actor}`, reason));
    return true;
  }
  return false;
}
