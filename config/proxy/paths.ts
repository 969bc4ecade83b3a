import { answerOf, isSameAnswer, NOTHING, withCommitted, type Answer, type Held } from '../../domain/config/held';
import type { Host } from '../../domain/config/overrides';
import type { CachedPath } from '../../sdk/configCache';
import type { StoreEvent } from '../store/port';

/** What a proxy knows of one path. */
export interface PathEntry {
  readonly path: string;
  held: Held;
  answer: Answer;
  /** When the host came by this answer, in milliseconds since 1970. */
  since: number;
  /** Whether the store was asked for it since the proxy started. */
  isConfirmed: boolean;
  /** When the store confirmed what the cache holds. */
  readonly cachedAt: number | null;
  askedAt: number;
  /** By application: what it refuses, and why. */
  readonly refusals: Map<string, { readonly version: string; readonly reason: string }>;
}

export function newEntry(path: string, host: Host, now: number): PathEntry {
  const answer = answerOf(path, NOTHING, host);
  return {
    ...{ path, held: NOTHING, answer, since: now, isConfirmed: false },
    ...{ cachedAt: null, askedAt: now, refusals: new Map() },
  };
}

/** As the cache knows it; the host may have another name since. */
export const entryOf = ({ path, held, confirmedAt, askedAt }: CachedPath, host: Host, now: number): PathEntry => ({
  ...newEntry(path, host, now),
  ...{ held, answer: answerOf(path, held, host), cachedAt: confirmedAt, askedAt },
});

/** Takes what the store says. Whether applications see a difference; a word on what was not taken. */
export function takeEvent(
  entry: PathEntry,
  event: StoreEvent,
  host: Host,
  now: number,
): { isNews: boolean; note?: string } {
  const before = entry.held;
  entry.held = heldAfter(before, event);
  const offered = event.kind === 'value' ? event.value.sequence : event.kind === 'removed' ? event.sequence : undefined;
  const has = before.committed?.sequence ?? 0;
  if (offered !== undefined && offered < has)
    return { isNews: false, note: `the store has ${entry.path} of commit ${offered}; that of commit ${has} stays` };
  const answer = answerOf(entry.path, entry.held, host);
  if (isSameAnswer(answer, entry.answer)) return { isNews: false };
  entry.answer = answer;
  entry.since = now;
  for (const [app, { version }] of entry.refusals) if (version !== answer.version) entry.refusals.delete(app);
  return { isNews: true };
}

function heldAfter(held: Held, event: StoreEvent): Held {
  switch (event.kind) {
    case 'value':
      return withCommitted(held, event.value);
    case 'removed':
      return withCommitted(held, { value: null, version: '', commit: event.commit, sequence: event.sequence });
    case 'override':
      return { ...held, overrides: event.overrides };
    case 'override-removed':
      return { ...held, overrides: [] };
  }
}

/** Of all applications that refuse what the host has. */
export function refusalOfEntry({ refusals }: PathEntry): string | undefined {
  const all = [...refusals].map(([app, { reason }]) => `${app}: ${reason}`);
  return all.length === 0 ? undefined : all.join('; ');
}
