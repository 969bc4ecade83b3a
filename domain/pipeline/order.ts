import { formatIdentity, type Artifact } from '../artifact';
import { STATE_LIMITS } from '../limits';
import { SEQUENCE, parseSequence } from '../sequence';
import { newestWithin } from '../size';
import { formatTime } from '../text';
import type { PipelineState } from './state';

/**
 * The order of a version relative to the latest of the same artifact in the pipeline; `unknown` if the metadata do not
 * show it.
 */
export type Order = 'newer' | 'same' | 'older' | 'unknown';

/**
 * Decides by the metadata, the most certain first: one version follows the other (`before`: the version that it replaced), its producer
 * numbers the versions (`sequence`), or the date of the commit (`committedAt`).
 */
export function decideOrder(artifact: Artifact, latest: Artifact | undefined, followed: readonly string[]): Order {
  if (latest === undefined) return 'newer';
  if (formatIdentity(artifact) === formatIdentity(latest)) return 'same';
  if (artifact.metadata['before'] === latest.version) return 'newer';
  if (followed.includes(artifact.version)) return 'older';
  return (
    compareMetadata(artifact, latest, parseSequence) ?? compareMetadata(artifact, latest, parseCommittedAt) ?? 'unknown'
  );
}

function compareMetadata<T extends bigint | number>(
  artifact: Artifact,
  latest: Artifact,
  read: (artifact: Artifact) => T | undefined,
): Order | undefined {
  const [mine, theirs] = [read(artifact), read(latest)];
  if (mine === undefined || theirs === undefined || mine === theirs) return undefined;
  return mine > theirs ? 'newer' : 'older';
}

/**
 * The fault in metadata that define an order; undefined if they can be read. Without this check a faulty value would silently be
 * ignored.
 */
export function whyNotOrdered(key: string, value: string): string | undefined {
  if (key === 'sequence' && !SEQUENCE.test(value))
    return 'is not a whole number from 0 on of at most 19 digits, such as 42';
  if (key === 'committedAt' && !(/^\d{4}-\d\d-\d\d/.test(value) && Number.isFinite(Date.parse(value))))
    return 'is not a time such as 2026-11-27T09:30:00Z';
  return undefined;
}

function parseCommittedAt({ metadata: { committedAt = '' } }: Artifact): number | undefined {
  const atMs = Date.parse(committedAt);
  return Number.isNaN(atMs) ? undefined : atMs;
}

/**
 * Like `decideOrder`, but the time of the push, if the forge sends it, counts first. A version that was pushed before the newest known push is older,
 * even if it followed then: if a branch was put back, a repeated delivery of an old push does not move it forward again. A version that was pushed
 * later is newer, regardless of its commit: deliveries in between may be late or lost, or a branch may begin at an old commit.
 */
export function orderIn(state: PipelineState, artifact: Artifact): Order {
  const order = decideOrder(artifact, state.inputs[artifact.name], state.followed[artifact.name] ?? []);
  if (order === 'same') return order;
  return pushOrder(state, artifact) ?? order;
}

function pushOrder({ pushed }: PipelineState, artifact: Artifact): Order | undefined {
  const [at, newest] = [parsePushedAt(artifact), pushed?.[artifact.name]];
  if (at === undefined || newest === undefined || at === newest) return undefined;
  return at < newest ? 'older' : 'newer';
}

/** Whether a branch goes back to an earlier version, which replaces the latest. */
export function isPutBack(state: PipelineState, artifact: Artifact): boolean {
  const latest = state.inputs[artifact.name]?.version;
  const takesItsPlace = artifact.metadata['before'] === latest || pushOrder(state, artifact) === 'newer';
  return latest !== undefined && latest !== artifact.version && takesItsPlace;
}

/** In ms, from the metadata; only webhooks of a forge send it. */
function parsePushedAt({ metadata: { pushedAt = '' } }: Artifact): number | undefined {
  const atMs = Date.parse(pushedAt);
  return Number.isNaN(atMs) ? undefined : atMs;
}

/**
 * The time of the newest push of each artifact, including these; only for artifacts that the pipeline takes. A time in the future counts as
 * now.
 */
export function recordPushes(
  { pushed, spec }: PipelineState,
  artifacts: readonly Artifact[],
  nowMs: number,
): Pick<PipelineState, 'pushed'> {
  const news = artifacts.flatMap((artifact) => {
    const atMs = Math.min(parsePushedAt(artifact) ?? NaN, nowMs);
    return Number.isNaN(atMs) ? [] : [[artifact.name, Math.max(atMs, pushed?.[artifact.name] ?? atMs)] as const];
  });
  if (news.length === 0) return {};
  const all = Object.entries({ ...pushed, ...Object.fromEntries(news) });
  return { pushed: Object.fromEntries(all.filter(([name]) => Object.hasOwn(spec.artifacts, name))) };
}

/**
 * The versions that others have replaced, including the predecessors of these artifacts. A version that comes back is
 * removed, so that it can follow again.
 */
export const recordPredecessors = (
  followed: PipelineState['followed'],
  artifacts: readonly Artifact[],
): PipelineState['followed'] =>
  artifacts.reduce((next, { name, version, metadata: { before } }) => {
    const others = (next[name] ?? []).filter((other) => other !== version && other !== before);
    const all = before === undefined || before === version ? others : [...others, before];
    return { ...next, [name]: all.slice(-STATE_LIMITS.followedPerArtifact.max) };
  }, followed);

/** Records artifacts that came too late. */
export function withLate(state: PipelineState, artifacts: readonly Artifact[], nowMs: number): PipelineState {
  const news = artifacts.map((artifact) => ({
    artifact: formatIdentity(artifact),
    at: formatTime(nowMs),
    behind: state.inputs[artifact.name]?.version ?? '',
  }));
  const others = state.late.filter(({ artifact }) => !news.some((one) => one.artifact === artifact));
  return { ...state, late: [...others, ...news].slice(-STATE_LIMITS.late.max) };
}

/**
 * Keeps an artifact that came before its predecessor, if it is older only by dates or numbers: it is taken up after its predecessor. An artifact that
 * another has followed, or that was pushed earlier, is old.
 */
export function withEarly(state: PipelineState, late: readonly Artifact[]): PipelineState {
  const isEarly = (artifact: Artifact): boolean =>
    artifact.metadata['before'] !== undefined &&
    !(state.followed[artifact.name] ?? []).includes(artifact.version) &&
    pushOrder(state, artifact) === undefined;
  const news = late.filter(isEarly);
  if (news.length === 0) return state;
  const { early = [] } = withoutEarly(state, news);
  return { ...state, early: newestWithin([...early, ...news], STATE_LIMITS.early.max) };
}

/** An artifact that came early and follows one of these. */
export const findFollower = ({ early = [] }: PipelineState, artifacts: readonly Artifact[]): Artifact | undefined =>
  early.find((one) => artifacts.some(({ name, version }) => one.name === name && one.metadata['before'] === version));

export function withoutEarly({ early, ...state }: PipelineState, taken: readonly Artifact[]): PipelineState {
  const left =
    early?.filter((one) => taken.every((artifact) => formatIdentity(artifact) !== formatIdentity(one))) ?? [];
  return left.length > 0 ? { ...state, early: left } : state;
}
