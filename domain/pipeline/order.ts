import { identityOf, type Artifact } from '../artifact';
import { STATE_LIMITS } from '../limits';
import { formatTime } from '../text';
import type { PipelineState } from './state';

/** How a version stands to the latest that a pipeline has of the same artifact; `unknown` where nothing says. */
export type Order = 'newer' | 'same' | 'older' | 'unknown';

/**
 * What says it, the surest first: that one follows the other (`before`: the version that it took the place of), a number that whoever
 * makes them counts (`sequence`), and when it was committed (`committedAt`). All are in the metadata.
 */
export function orderOf(artifact: Artifact, latest: Artifact | undefined, followed: readonly string[]): Order {
  if (latest === undefined) return 'newer';
  if (identityOf(artifact) === identityOf(latest)) return 'same';
  if (artifact.metadata['before'] === latest.version) return 'newer';
  if (followed.includes(artifact.version)) return 'older';
  return compared(artifact, latest, sequenceOf) ?? compared(artifact, latest, committedAtOf) ?? 'unknown';
}

function compared<T extends bigint | number>(
  artifact: Artifact,
  latest: Artifact,
  read: (artifact: Artifact) => T | undefined,
): Order | undefined {
  const [mine, theirs] = [read(artifact), read(latest)];
  if (mine === undefined || theirs === undefined || mine === theirs) return undefined;
  return mine > theirs ? 'newer' : 'older';
}

/** At most as many digits as a 64-bit number has. */
const SEQUENCE = /^\d{1,19}$/;

function sequenceOf({ metadata: { sequence = '' } }: Artifact): bigint | undefined {
  return SEQUENCE.test(sequence) ? BigInt(sequence) : undefined;
}

function committedAtOf({ metadata: { committedAt = '' } }: Artifact): number | undefined {
  const atMs = Date.parse(committedAt);
  return Number.isNaN(atMs) ? undefined : atMs;
}

/**
 * As `orderOf`, and older than all of it is what was pushed before a push that came already, whatever it followed then: a branch that was
 * put back does not go forth again because somebody delivers the old push once more.
 */
export function orderIn({ inputs, followed, pushed }: PipelineState, artifact: Artifact): Order {
  const order = orderOf(artifact, inputs[artifact.name], followed[artifact.name] ?? []);
  const [at, newest] = [pushedAtOf(artifact), pushed?.[artifact.name]];
  const isOld = at !== undefined && newest !== undefined && at < newest;
  return isOld && order !== 'same' ? 'older' : order;
}

/** In ms, from the metadata; only webhooks of a forge bring it. */
function pushedAtOf({ metadata: { pushedAt = '' } }: Artifact): number | undefined {
  const atMs = Date.parse(pushedAt);
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** When the newest push of each artifact was made, with these; of artifacts that the pipeline takes. None is made after it came. */
export function pushedAfter(
  { pushed, spec }: PipelineState,
  artifacts: readonly Artifact[],
  nowMs: number,
): Pick<PipelineState, 'pushed'> {
  const news = artifacts.flatMap((artifact) => {
    const atMs = Math.min(pushedAtOf(artifact) ?? NaN, nowMs);
    return Number.isNaN(atMs) ? [] : [[artifact.name, Math.max(atMs, pushed?.[artifact.name] ?? atMs)] as const];
  });
  if (news.length === 0) return {};
  const all = Object.entries({ ...pushed, ...Object.fromEntries(news) });
  return { pushed: Object.fromEntries(all.filter(([name]) => Object.hasOwn(spec.artifacts, name))) };
}

/** Versions that others took the place of, with what these artifacts follow; one that came back follows again. */
export const followedAfter = (
  followed: PipelineState['followed'],
  artifacts: readonly Artifact[],
): PipelineState['followed'] =>
  artifacts.reduce((next, { name, version, metadata: { before } }) => {
    const others = (next[name] ?? []).filter((other) => other !== version && other !== before);
    const all = before === undefined || before === version ? others : [...others, before];
    return { ...next, [name]: all.slice(-STATE_LIMITS.followedPerArtifact.max) };
  }, followed);

/** What came too late is on record. */
export function withLate(state: PipelineState, artifacts: readonly Artifact[], nowMs: number): PipelineState {
  const news = artifacts.map((artifact) => ({
    artifact: identityOf(artifact),
    at: formatTime(nowMs),
    behind: state.inputs[artifact.name]?.version ?? '',
  }));
  const others = state.late.filter(({ artifact }) => !news.some((one) => one.artifact === artifact));
  return { ...state, late: [...others, ...news].slice(-STATE_LIMITS.late.max) };
}
