import type { ActionSpec } from '../../domain/spec/pipeline';
import { waitActivities } from '../proxies';
import { runAttempts } from './attempts';
import type { ReleaseSession } from './session';

type WaitAction = Extract<ActionSpec, { type: 'wait-for' }>;

/** Waits for a release of another pipeline: its newest, or the one that brought an artifact of this release. */
export function runWaitAction(run: ReleaseSession, name: string, action: WaitAction): Promise<void> {
  const { settings } = run.input;
  const { pipeline } = action.with;
  const artifact = findWaitArtifact(run, action);
  return runAttempts(run, name, action, (_attempt, summary) =>
    waitActivities().waitForRelease.executeWithOptions({ summary }, [
      { action: name, pipeline, artifact, intervalMs: settings.waitIntervalMs },
    ]),
  );
}

/** The version that is named, or else the one of this release. */
function findWaitArtifact(
  { input, record }: ReleaseSession,
  { with: wanted }: WaitAction,
): { name: string; version: string } | null {
  const { artifact: name, version } = wanted;
  if (name === undefined) return null;
  if (version !== undefined) return { name, version };
  const known = [...input.artifacts, ...Object.values(record.actions).flatMap(({ outputs }) => outputs)];
  return { name, version: known.findLast((artifact) => artifact.name === name)?.version ?? '' };
}
