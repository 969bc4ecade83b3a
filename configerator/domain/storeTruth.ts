import { nameState, type CommittedValue } from './heldValue';

/** The first parents of a branch, numbered from 1. */
export interface CommitLine {
  readonly sequenceOf: (commit: string) => number | undefined;
}

interface CommitPlace {
  readonly sequence: number;
  readonly commit: string;
}

/** Whether a commit of the branch has this number. */
export const isOnLine = (line: CommitLine, { sequence, commit }: CommitPlace): boolean =>
  line.sequenceOf(commit) === sequence;

/** Whether a record matches git at its commit. */
export const wasEverTrue = (
  line: CommitLine,
  record: Omit<CommittedValue, 'value'>,
  atCommit: string | null,
): boolean => isOnLine(line, record) && record.version === (atCommit ?? '');

/**
 * Whether a record that was true once is what hosts should have at the head of their store.
 * @param atHead the blob in git; null if the path is gone; `unfit` for a value that no host could get, so that hosts keep what they have
 * @param partly the commit after the head, while it is on its way
 */
export function isNewest(
  head: CommitPlace,
  { version, commit, sequence }: Omit<CommittedValue, 'value'>,
  atHead: string | null,
  partly?: string,
): boolean {
  if (sequence > head.sequence) return commit === partly && sequence === head.sequence + 1;
  return atHead === 'unfit' || version === (atHead ?? '');
}

/** The number of forged states of a path that are listed next to its value. */
const OVERRULED = 32;

/** The states that a value overrules: the earlier ones and these. Undefined if nothing is new. */
export function addOverruledStates(
  before: readonly string[],
  forged: readonly Omit<CommittedValue, 'value'>[],
): readonly string[] | undefined {
  const news = [...new Set(forged.map(nameState))].filter((state) => !before.includes(state)).slice(0, OVERRULED);
  return news.length === 0 ? undefined : [...before, ...news].slice(-OVERRULED);
}

/** Whether another round is due: no more often than the interval, and rounds take at most a twentieth of the time. */
export const isRoundDue = (
  nowMs: number,
  last: { readonly endedAtMs: number; readonly tookMs: number },
  everyMs: number,
) => nowMs - last.endedAtMs >= Math.max(everyMs, 20 * last.tookMs);
