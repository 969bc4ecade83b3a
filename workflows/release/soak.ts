import type { Artifact } from '../../domain/artifact';
import { releaseId } from '../../domain/ids';
import type { SoakAnswer, SoakAsk } from '../../domain/release/soak';
import { skipsTheQueue } from '../../domain/release/urgent';
import type { SoakSpec } from '../../domain/spec/pipeline';
import { formatTime } from '../../domain/text';
import { waitActivities } from '../proxies';
import { BackgroundTasks, waitFor, type WaitOutcome } from '../waitFor';
import type { ReleaseSession } from './session';

/**
 * Waits until the version has run for long enough in the places where it has to soak. A rollback, an emergency and a follow-on do not
 * wait.
 * @returns false if the action is closed, because its version can no longer soak.
 */
export async function awaitSoak(
  run: ReleaseSession,
  name: string,
  soak: SoakSpec,
  artifacts: readonly Artifact[],
): Promise<boolean> {
  if (skipsTheQueue(run.input.trigger)) return true;
  const before = 'action' in soak ? run.record.actions[soak.action]?.state : 'succeeded';
  if ('action' in soak && before !== 'succeeded') {
    run.close(name, 'failed', `nothing soaks: ${soak.action} is ${before ?? 'not there'}`);
    return false;
  }
  const isSkipped = () => run.record.actions[name]?.soak === 'skipped';
  run.patch(name, { state: 'blocked', blockedBy: 'soaking', soak: 'waiting' });
  const end = await untilOver(
    run,
    name,
    soakAsk(run, soak, artifacts),
    () => isSkipped() || run.control.ending !== null,
  );
  run.patch(name, { soak: null, blockedBy: null, until: null });
  return end === undefined || soakPassed(run, name, soak, end);
}

/** Undefined if the wait was given up. */
async function untilOver(
  run: ReleaseSession,
  name: string,
  ask: SoakAsk,
  isOver: () => boolean,
): Promise<SoakAnswer | undefined> {
  const { spec, settings } = run.input;
  const background = new BackgroundTasks();
  const options = { summary: `${name}: until its version has soaked` };
  let seen: SoakAnswer | null = null;
  const look = (): Promise<SoakAnswer> =>
    waitActivities().soakNews.executeWithOptions(options, [
      { ask, own: spec.pipeline, seen, intervalMs: settings.waitIntervalMs },
    ]);
  for (;;) {
    const waited: WaitOutcome<SoakAnswer> = await waitFor(background, look, { wake: isOver });
    await background.drain();
    if (waited.kind === 'failed') throw waited.error;
    if (waited.kind !== 'done') return undefined;
    const answer = waited.value;
    if (answer.kind !== 'waiting') return answer;
    seen = answer;
    const until = answer.untilMs === undefined ? null : formatTime(answer.untilMs);
    run.patch(name, { blockedBy: answer.reason, until });
  }
}

/** The pipeline itself refuses versions that it knows to be bad, when it is asked. */
function soakPassed(run: ReleaseSession, name: string, soak: SoakSpec, end: SoakAnswer): boolean {
  if (end.kind === 'soaked' || (end.kind === 'bad' && 'action' in soak)) {
    run.log('soaked', `${name}: ${end.reason}`);
    return true;
  }
  if (end.kind !== 'replaced' || run.input.spec.releases.supersede === 'never') run.close(name, 'failed', end.reason);
  else {
    run.because('superseded', end.by);
    run.close(name, 'cancelled', `${end.reason}; ${releaseId(run.input.spec.pipeline, end.by)} is newer`);
  }
  return false;
}

function soakAsk({ input, record }: ReleaseSession, soak: SoakSpec, artifacts: readonly Artifact[]): SoakAsk {
  const { spec, number } = input;
  const isShared = ({ name }: Artifact): boolean =>
    'action' in soak ? spec.actions[soak.action]?.inputs.includes(name) === true : name === soak.artifact;
  const wanted = artifacts
    .filter(isShared)
    .map(({ name, version, digest }) => ({ name, version, ...(digest === undefined ? {} : { digest }) }));
  const ask = { wanted, forMs: soak.for, release: number };
  if (!('action' in soak)) return { ...ask, pipeline: soak.pipeline, action: null };
  const deployedAt = record.actions[soak.action]?.endedAt;
  return { ...ask, pipeline: spec.pipeline, action: soak.action, ...(deployedAt ? { deployedAt } : {}) };
}
