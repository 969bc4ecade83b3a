import { condition, getExternalWorkflowHandle, startChild } from '@temporalio/workflow';
import type { Artifact } from '../../domain/artifact';
import { canarySpec } from '../../domain/deploy/canary';
import type { DeployResult } from '../../domain/deploy/state';
import { ancestors, dependencies, resolveInputs, findMissingInputs } from '../../domain/release/graph';
import { hasActionEnded } from '../../domain/release/nextActions';
import type { CanaryAction } from '../../domain/spec/pipeline';
import { formatDuration } from '../../domain/text';
import type { deploy } from '../deploy';
import { getFailureMessage } from '../deploy/calls';
import { onSignal } from '../inbox';
import { canaryKeepOverSignal, canaryKeptSignal } from '../messages';
import { backOff } from './attempts';
import { deployChild } from './deployChild';
import { awaitUnhindered } from './guards';
import type { ReleaseSession } from './session';

/**
 * Runs a canary as a child: a deploy of a few tasks that is always undone. It excludes no other deploy, so it needs no admission.
 * The action for which it is kept may come after it: then the canary action succeeds once the canary has baked, and the release
 * ends after the canary is undone.
 */
export async function runCanaryAction(run: ReleaseSession, name: string, action: CanaryAction): Promise<void> {
  const missing = findMissingInputs(action, actionArtifacts(run, name));
  if (missing.length > 0) return run.close(name, 'failed', `nothing made ${missing.join(', ')}`);
  const first = run.record.actions[name]?.attempt ?? 1;
  for (let attempt = first; ; attempt += 1) {
    run.patch(name, { attempt, state: 'running', blockedBy: null, until: null, deploying: true });
    const end = await runOnce(run, name, action);
    if (end.kind === 'kept') return;
    if (end.kind === 'succeeded') return run.close(name, 'succeeded', end.message);
    if (end.kind === 'cancelled') {
      run.because('operator');
      return run.closeCancelled(name, end.message);
    }
    if (attempt - first + 1 >= action.retry.attempts || run.control.ending)
      return run.close(name, 'failed', end.message);
    await backOff(run, name, action, `attempt ${attempt} failed: ${end.message}`);
    await awaitUnhindered(run, name);
    if (run.control.ending) return run.closeCancelled(name, run.endedBy());
  }
}

interface CanaryEnd {
  readonly kind: 'succeeded' | 'failed' | 'cancelled' | 'kept';
  readonly message: string;
}

async function runOnce(run: ReleaseSession, name: string, action: CanaryAction): Promise<CanaryEnd> {
  const id = run.deploys.workflowId(name);
  const { keepUntil } = action.with;
  const child = new CanaryChild();
  onSignal(canaryKeptSignal(name), () => void (child.baked = true));
  const work = followCanary(run, name, action, child);
  run.track(work);
  if (keepUntil !== undefined) run.track(endKeeping(run, id, keepUntil, child));
  const comesLater = keepUntil !== undefined && isAfter(run, keepUntil, name);
  const decided = () => child.end !== null || (comesLater && child.baked);
  const inTime =
    action.timeout === undefined
      ? await condition(decided).then(() => true)
      : await condition(decided, action.timeout, { summary: `${name}: timeout` });
  if (!inTime) return late(child, id, action.timeout ?? 0);
  if (child.end) return child.end;
  run.close(name, 'succeeded', `healthy; it is kept until ${keepUntil ?? ''} ends`);
  return { kind: 'kept', message: '' };
}

/** The state of a running canary. */
class CanaryChild {
  started = false;
  baked = false;
  end: CanaryEnd | null = null;
}

async function followCanary(
  run: ReleaseSession,
  name: string,
  action: CanaryAction,
  child: CanaryChild,
): Promise<void> {
  try {
    const start = startChild<typeof deploy>('deploy', canaryInput(run, name, action));
    run.deploys.starting(name, start);
    const handle = await start;
    child.started = true;
    child.end = canaryEnd(await handle.result());
    if (hasActionEnded(run.record.actions[name]?.state ?? 'running'))
      run.log('canary-over', `${name}: ${child.end.message}`);
  } catch (error) {
    child.end = { kind: 'failed', message: getFailureMessage(error) };
  }
}

function canaryEnd({ outcome, reason }: DeployResult): CanaryEnd {
  const kind = outcome === 'succeeded' || outcome === 'cancelled' ? outcome : 'failed';
  return { kind, message: reason };
}

/** A canary that takes too long is undone before its action fails. */
async function late(child: CanaryChild, id: string, timeoutMs: number): Promise<CanaryEnd> {
  await getExternalWorkflowHandle(id)
    .cancel()
    .catch(() => undefined);
  await condition(() => child.end !== null);
  return { kind: 'failed', message: `it took longer than ${formatDuration(timeoutMs)}` };
}

/** Ends the canary once the action for which it is kept has ended, with any result. */
async function endKeeping(run: ReleaseSession, id: string, keepUntil: string, child: CanaryChild): Promise<void> {
  const hasEnded = () => hasActionEnded(run.record.actions[keepUntil]?.state ?? 'skipped');
  await condition(() => child.end !== null || (child.started && (hasEnded() || run.control.ending !== null)));
  if (child.end !== null) return;
  await getExternalWorkflowHandle(id)
    .signal(canaryKeepOverSignal, keepUntil)
    .catch(() => undefined);
}

const isAfter = ({ input }: ReleaseSession, later: string, earlier: string): boolean =>
  ancestors(dependencies(input.spec.actions), later).has(earlier);

function canaryInput(run: ReleaseSession, name: string, action: CanaryAction) {
  const { amount, bake, keepUntil } = action.with;
  return deployChild(run, name, {
    spec: canarySpec(action.with),
    artifacts: actionArtifacts(run, name),
    canary: { amount, bakeMs: bake, keepUntil: keepUntil !== undefined },
    rollback: false,
  });
}

export const actionArtifacts = ({ input, record }: ReleaseSession, name: string): Artifact[] =>
  resolveInputs(input.spec.actions, name, input.artifacts, (producer) => record.actions[producer]?.outputs ?? []);
