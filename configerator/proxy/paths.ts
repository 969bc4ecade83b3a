import {
  resolveAnswer,
  isSameAnswer,
  NOTHING,
  withCommitted,
  type Answer,
  type CommittedValue,
  type HostPathState,
} from '../domain/heldValue';
import type { Host } from '../domain/overrides';
import type { CachedPath } from '../../sdk/configCache';
import type { StoreEvent } from '../store/port';

/** A proxy's state of one path. */
export interface PathEntry {
  readonly path: string;
  held: HostPathState;
  answer: Answer;
  /** When the host got this answer, in ms since the epoch. */
  since: number;
  /** Whether the store has confirmed it since the proxy started. */
  isConfirmed: boolean;
  /** When the store confirmed the cached value. */
  readonly cachedAt: number | null;
  askedAt: number;
  /** Why the value in the store cannot be trusted; undefined while it can. */
  disbelieved?: string | undefined;
  /** By application: the refused version, and the reason. */
  readonly refusals: Map<string, { readonly version: string; readonly reason: string }>;
}

export function createEntry(path: string, host: Host, now: number): PathEntry {
  const answer = resolveAnswer(path, NOTHING, host);
  return {
    ...{ path, held: NOTHING, answer, since: now, isConfirmed: false },
    ...{ cachedAt: null, askedAt: now, refusals: new Map() },
  };
}

/** An entry from the cache; the host may have been renamed since. */
export const restoreEntry = ({ path, held, confirmedAt, askedAt }: CachedPath, host: Host, now: number): PathEntry => ({
  ...createEntry(path, host, now),
  ...{ held, answer: resolveAnswer(path, held, host), cachedAt: confirmedAt, askedAt },
});

/** Applies an event of the store. Returns whether applications see a difference, and a note on a rejected record. */
export function takeEvent(
  entry: PathEntry,
  event: StoreEvent,
  host: Host,
  now: number,
): { isNews: boolean; note?: string } {
  const before = entry.held;
  if (event.kind === 'disbelieved') {
    if (event.part === 'value') entry.disbelieved = event.why;
    return { isNews: false, note: `the ${event.part} of ${entry.path} in the store is rejected: ${event.why}` };
  }
  const offered = getCommitted(event);
  if (offered !== undefined) entry.disbelieved = undefined;
  entry.held = updateHeld(before, event);
  const has = before.committed?.sequence ?? 0;
  if (offered !== undefined && entry.held === before && offered.sequence < has)
    return {
      isNews: false,
      note: `the store has ${entry.path} of commit ${offered.sequence}; that of commit ${has} stays`,
    };
  const answer = resolveAnswer(entry.path, entry.held, host);
  if (isSameAnswer(answer, entry.answer)) return { isNews: false };
  entry.answer = answer;
  entry.since = now;
  for (const [app, { version }] of entry.refusals) if (version !== answer.version) entry.refusals.delete(app);
  return { isNews: true };
}

type KnownEvent = Exclude<StoreEvent, { kind: 'disbelieved' }>;

function updateHeld(held: HostPathState, event: KnownEvent): HostPathState {
  if (event.kind === 'override') return { ...held, overrides: event.overrides };
  if (event.kind === 'override-removed') return { ...held, overrides: [] };
  const { overrules } = event.kind === 'value' ? event.value : event;
  const committed = getCommitted(event);
  return committed === undefined ? held : withCommitted(held, committed, overrules);
}

function getCommitted(event: KnownEvent): CommittedValue | undefined {
  if (event.kind === 'removed') return { value: null, version: '', commit: event.commit, sequence: event.sequence };
  if (event.kind !== 'value') return undefined;
  const { value, version, commit, sequence } = event.value;
  return { value, version, commit, sequence };
}

/** The refusals of all applications that reject the host's value. */
export function describeRefusals({ refusals }: PathEntry): string | undefined {
  const all = [...refusals].map(([app, { reason }]) => `${app}: ${reason}`);
  return all.length === 0 ? undefined : all.join('; ');
}
