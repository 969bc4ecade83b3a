import { condition, workflowInfo } from '@temporalio/workflow';
import { deployId } from '../../domain/ids';
import { approvalsNeeded, approvalWords } from '../../domain/release/approval';
import { formatDuration, formatTime, withReason } from '../../domain/text';
import { tell } from './notices';
import type { ReleaseRun } from './run';

/**
 * Until 0.2.0, without the rules of the platform (protection.ts): an emergency waits until so many other owners have approved it as its pipeline demands; until then its pipeline hears nothing of it, so that
 * whatever deploys goes on. A rejection, or too few in time, fails it.
 * @returns false when it is closed already.
 */
export async function othersApprove(run: ReleaseRun, name: string): Promise<boolean> {
  const { spec, trigger } = run.input;
  const needed = approvalsNeeded(spec, trigger);
  if (needed === 0) return true;
  const timeoutMs = spec.emergency?.timeout ?? 0;
  const untilMs = Date.now() + timeoutMs;
  show(run, name, needed, untilMs);
  run.notices(tellApprovers(run, name, approvalWords({ needed, by: [], notBy: trigger.actor })));
  while (!isDecided(run, name, needed) && Date.now() < untilMs) {
    const before = approvalsOf(run, name).length;
    const changed = () => isDecided(run, name, needed) || approvalsOf(run, name).length > before;
    await condition(changed, untilMs - Date.now(), { summary: `${name}: nobody approves` });
    show(run, name, needed, untilMs);
  }
  run.patch(name, { approval: null, pickBy: null, blockedBy: null, until: null });
  return decide(run, name, needed, timeoutMs);
}

const approvalsOf = ({ control }: ReleaseRun, name: string) => control.approvals[name] ?? [];

const rejectionOf = ({ control }: ReleaseRun, name: string) => {
  const picked = control.picks[name];
  return picked?.approve === false ? picked : undefined;
};

const isDecided = (run: ReleaseRun, name: string, needed: number): boolean =>
  run.control.ending !== null || rejectionOf(run, name) !== undefined || approvalsOf(run, name).length >= needed;

function show(run: ReleaseRun, name: string, needed: number, untilMs: number): void {
  const by = approvalsOf(run, name).map(({ actor }) => actor);
  const approval = { needed, by, notBy: run.input.trigger.actor };
  const blockedBy = approvalWords(approval);
  run.patch(name, { state: 'blocked', blockedBy, approval, pickBy: run.policy.owners, until: formatTime(untilMs) });
}

/** Whoever hears of pauses hears of this one: somebody is waited for. */
export function tellApprovers(run: ReleaseRun, name: string, waits: string): Promise<void> {
  const { spec, number, trigger, artifacts } = run.input;
  const id = deployId(spec.pipeline, number, name);
  const what = trigger.kind === 'emergency' ? 'an emergency push' : `release ${number}`;
  return tell(run, 'paused', {
    ...{
      id: `${workflowInfo().workflowId}/${name}/${run.record.actions[name]?.attempt ?? 1}/approval`,
      deploy: id,
      artifacts,
      actor: trigger.actor,
    },
    reason: `${withReason(what, trigger.reason ?? '')}; ${waits}: conveyor pick ${id} --approve`,
  });
}

function decide(run: ReleaseRun, name: string, needed: number, timeoutMs: number): boolean {
  const rejected = rejectionOf(run, name);
  const approved = approvalsOf(run, name);
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
