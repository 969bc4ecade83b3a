/** The service that applies a branch to a cluster, and says whether a version is live there. */

/** The change of a cluster that is to become live. */
export interface WatchedPlace {
  readonly service: string;
  readonly environment: string;
  readonly cluster: string;
  readonly unit: string;
  readonly path: string;
  readonly version: string;
  /** The text in the field. */
  readonly value: string;
  /** The commit of the change; undefined if the value was there before. */
  readonly commit: string | undefined;
}

/** `silent`: no answer, or one that cannot be believed. Only `live` is live. */
export interface Observation {
  readonly state: 'live' | 'waiting' | 'failed' | 'silent';
  readonly reason: string;
}

/** Undefined if a revision has the change and the value in its field; otherwise the reason why not. */
export type CheckRevision = (revision: string) => Promise<string | undefined>;

/** Looks once. Never rejects. */
export type Watcher = (place: WatchedPlace, check: CheckRevision) => Promise<Observation>;

/** The first revision that has the change, or the reasons why none has. */
export async function checkRevisions(
  revisions: readonly string[],
  check: CheckRevision,
): Promise<{ readonly isThere: boolean; readonly reason: string }> {
  const reasons: string[] = [];
  for (const revision of revisions.filter((one) => one !== '')) {
    const why = await check(revision);
    if (why === undefined) return { isThere: true, reason: '' };
    reasons.push(why);
  }
  return { isThere: false, reason: reasons.join('; ') || 'it names no revision' };
}

/** A text of a service on one line. */
export const cutToLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 300);

export const observe = (state: Observation['state'], reason: string): Observation => ({
  state,
  reason: cutToLine(reason),
});
