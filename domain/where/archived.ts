import type { Artifact } from '../artifact';
import { releaseId } from '../ids';
import { isJsonObject } from '../json';
import { formatTime } from '../text';
import type { ReleaseState } from '../views';
import { findMatch, type RevisionQuestion } from './revision';
import type { WhereRelease, WhereStage } from './view';
import { LEAST_DIGITS } from './words';

/** An ended release as the archive has it, which keeps it longer than Temporal does. */
export interface ArchivedRelease {
  readonly pipeline: string;
  readonly release: number;
  readonly state: string;
  readonly cause: string | null;
  readonly startedMs: number | null;
  readonly endedMs: number;
  /** As JSON. */
  readonly artifacts: string;
}

/** The artifacts of a release for the archive, as JSON without metadata; null if there are none. */
export const formatArchivedArtifacts = (artifacts: readonly Artifact[]): string | null =>
  artifacts.length === 0
    ? null
    : JSON.stringify(
        artifacts.map(({ name, kind, version, digest, builtFrom }) => ({ name, kind, version, digest, builtFrom })),
      );

/** A text that the artifacts of each release with the revision contain, in lower case, as JSON writes it. */
export function findArchivedText({ text, hex }: RevisionQuestion): string {
  const version = /^[a-z0-9-]+@([^#]+)/.exec(text)?.[1] ?? text;
  return hex?.slice(0, LEAST_DIGITS) ?? JSON.stringify(version).slice(1, -1).toLowerCase();
}

/** Undefined if the release does not contain the revision, or cannot be read. */
export function toArchivedWhere(question: RevisionQuestion, row: ArchivedRelease): WhereRelease | undefined {
  const contains = findMatch(question, parseArchivedArtifacts(row.artifacts));
  if (contains === undefined) return undefined;
  const { pipeline, release: number, state, cause, startedMs, endedMs } = row;
  const stage: WhereStage = cause === 'superseded' || cause === 'preempted' ? 'superseded' : toEndState(state);
  return {
    ...{ id: releaseId(pipeline, number), pipeline, number, state: toEndState(state), stage, contains },
    ...{
      startedAt: formatTime(startedMs ?? endedMs),
      endedAt: formatTime(endedMs),
      deploys: [],
      share: null,
      by: null,
    },
    ...{ knownBad: [], undone: null, wait: null, everywhereAt: null, next: `conveyor history ${pipeline}` },
  };
}

const toEndState = (state: string): Extract<ReleaseState, 'succeeded' | 'cancelled' | 'failed'> =>
  state === 'succeeded' || state === 'cancelled' ? state : 'failed';

function parseArchivedArtifacts(text: string): readonly Artifact[] {
  try {
    const all: unknown = JSON.parse(text);
    return Array.isArray(all) ? all.filter(isJsonObject).map((one) => ({ metadata: {}, ...one }) as Artifact) : [];
  } catch {
    return [];
  }
}
