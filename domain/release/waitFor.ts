import type { Artifact } from '../artifact';
import { releaseId } from '../ids';
import type { ReleaseCause, ReleaseState, Trigger } from '../views';

/** The release that a `wait-for` action waits for: the newest of another pipeline, or one with a certain artifact. */
export interface Wait {
  readonly pipeline: string;
  /** Null: the newest release at the time of the question. */
  readonly artifact: { readonly name: string; readonly version: string } | null;
  /** The release of an earlier answer; null for the first question. */
  readonly release: number | null;
}

/** The releases that the other pipeline knows, both lists oldest first; PipelineState has this shape. */
export interface KnownReleases {
  readonly active: readonly OpenRelease[];
  readonly history: readonly EndedRelease[];
}

interface OpenRelease {
  readonly number: number;
  readonly artifacts: Artifacts;
  readonly trigger?: Pick<Trigger, 'kind'>;
}

interface EndedRelease extends OpenRelease {
  readonly state: ReleaseState;
  readonly cause: ReleaseCause | null;
}

type Artifacts = readonly Pick<Artifact, 'name' | 'version'>[];

/** The next question must include `release`, so that a newer release does not prolong the wait. */
export interface WaitAnswer {
  readonly kind: 'reached' | 'failed' | 'waiting';
  readonly reason: string;
  readonly release: number | null;
}

/**
 * The state of a wait. `known` is null if the pipeline does not exist, and the wait includes its creation. A release
 * that was superseded does not end the wait: the newer one takes its place.
 */
export function judgeWait(known: KnownReleases | null, wait: Wait): WaitAnswer {
  if (known === null) return waitOn(null, `there is no pipeline ${wait.pipeline} yet`);
  const releases = { active: known.active.filter(isWhole), history: known.history.filter(isWhole) };
  return wait.artifact === null ? judgeNewest(releases, wait) : judgeArtifact(releases, wait.pipeline, wait.artifact);
}

/** A follow-on is part of another release, and may wait for weeks. */
const isWhole = ({ trigger }: OpenRelease): boolean => trigger?.kind !== 'follow-on';

function judgeNewest(known: KnownReleases, { pipeline, release }: Wait): WaitAnswer {
  const newest = Math.max(0, ...[...known.active, ...known.history].map(({ number }) => number));
  if (newest === 0) return waitOn(null, `${pipeline} has no release yet`);
  const number = release ?? newest;
  const id = releaseId(pipeline, number);
  if (known.active.some((it) => it.number === number)) return waitOn(number, `${id} has not ended yet`);
  const ended = known.history.find((it) => it.number === number);
  if (ended === undefined) return waitAnswer('failed', number, `${id} is not known to ${pipeline} any more`);
  if (ended.cause === 'superseded' && newest > number)
    return judgeNewest(known, { pipeline, artifact: null, release: null });
  return ended.state === 'succeeded' ? waitAnswer('reached', number, `${id} succeeded`) : waitFailed(id, ended);
}

function judgeArtifact(
  { active, history }: KnownReleases,
  pipeline: string,
  { name, version }: { readonly name: string; readonly version: string },
): WaitAnswer {
  const has = ({ artifacts }: { readonly artifacts: Artifacts }): boolean =>
    artifacts.some((artifact) => artifact.name === name && artifact.version === version);
  const what = `${name}@${version}`;
  const ended = history.filter(has);
  const good = ended.findLast(({ state }) => state === 'succeeded');
  if (good) return waitAnswer('reached', good.number, `${releaseId(pipeline, good.number)} succeeded with ${what}`);
  const running = active.findLast(has);
  if (running)
    return waitOn(running.number, `${releaseId(pipeline, running.number)} has ${what} and has not ended yet`);
  const last = ended.findLast(({ cause }) => cause !== 'superseded') ?? ended.at(-1);
  if (last === undefined) return waitOn(null, `${pipeline} has no release with ${what} yet`);
  return waitFailed(`${releaseId(pipeline, last.number)}, with ${what},`, last);
}

const waitFailed = (id: string, { number, state, cause }: EndedRelease): WaitAnswer =>
  waitAnswer('failed', number, cause === null ? `${id} ${state}` : `${id} ${state} (${cause})`);

const waitOn = (release: number | null, why: string): WaitAnswer => waitAnswer('waiting', release, `waiting: ${why}`);

const waitAnswer = (kind: WaitAnswer['kind'], release: number | null, reason: string): WaitAnswer => ({
  kind,
  reason,
  release,
});
