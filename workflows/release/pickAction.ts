import { condition } from '@temporalio/workflow';
import { deployId } from '../../domain/ids';
import type { ActionSpec } from '../../domain/spec/pipeline';
import { formatDuration, formatTime, withReason } from '../../domain/text';
import { pickedSignal } from '../messages';
import { assertReachable, signalOver, signalReady, toPipeline } from './admissionRequest';
import { awaitRuleApproval, asksRules, type GateDecision, type Pick } from './protection';
import type { ReleaseSession } from './session';

type PickAction = Extract<ActionSpec, { type: 'manual-pick' }>;

/** Waits for a person, for days at no cost. A rejection or a timeout fails the action. */
export async function runPickAction(run: ReleaseSession, name: string, action: PickAction): Promise<void> {
  const { principals, timeout } = action.with;
  const pick = { principals, timeoutMs: timeout };
  const decision = asksRules(run)
    ? await awaitRuleApproval(run, { action: name, artifacts: [], pick })
    : await personPicks(run, name, pick);
  if (decision.approved) run.close(name, 'succeeded', decision.why);
  else decision.close();
}

/**
 * Before 0.3, without the rules of the platform (protection.ts): waits until a person lets an action continue. Waiting releases never
 * supersede each other. The approval of one cancels older ones that wait for the same pick (docs/design/pipeline.md#concurrency).
 */
export async function personPicks(run: ReleaseSession, name: string, pick: Pick): Promise<GateDecision> {
  const { timeoutMs } = pick;
  run.patch(name, {
    state: 'blocked',
    blockedBy: 'waiting for a person to pick it',
    pickBy: pick.principals.length > 0 ? pick.principals : run.policy.owners,
    until: timeoutMs === undefined ? null : formatTime(Date.now() + timeoutMs),
  });
  signalReady(run, name, { kind: 'pick', artifacts: [] });
  const decided = () =>
    pickDecision(run, name) !== undefined ||
    run.admissions.has(name) ||
    run.control.ending !== null ||
    run.unreachable !== null;
  const inTime =
    timeoutMs === undefined
      ? await condition(decided).then(() => true)
      : await condition(decided, timeoutMs, { summary: `${name}: nobody picks` });
  run.patch(name, { pickBy: null, blockedBy: null, until: null });
  assertReachable(run);
  const decision = decidePick(run, name, inTime ? undefined : timeoutMs);
  if (decision.approved) await toPipeline(run).signal(pickedSignal, { release: run.input.number, action: name });
  else await signalOver(run, name, 'pick');
  return decision;
}

const pickDecision = (run: ReleaseSession, name: string) => run.control.picks[name];

function decidePick(run: ReleaseSession, name: string, expiredMs: number | undefined): GateDecision {
  const decision = pickDecision(run, name);
  const admission = run.admissions.get(name);
  if (run.control.ending) return rejectPick(() => run.closeCancelled(name, run.endedBy()));
  if (decision?.approve) return { approved: true, why: withReason(`approved by ${decision.actor}`, decision.reason) };
  if (decision)
    return rejectPick(() => run.close(name, 'failed', withReason(`rejected by ${decision.actor}`, decision.reason)));
  if (admission?.kind === 'superseded')
    return rejectPick(() => {
      run.because('superseded', admission.by);
      run.close(name, 'cancelled', `release ${admission.by} was picked`);
    });
  const id = deployId(run.input.spec.pipeline, run.input.number, name);
  return rejectPick(() => run.close(name, 'failed', `nobody picked ${id} within ${formatDuration(expiredMs ?? 0)}`));
}

const rejectPick = (close: () => void): GateDecision => ({ approved: false, close });
