/** The wording that all messages for people share. */

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];

/** `1h 30m`, `45s`, `250ms`: the two largest non-zero units. */
export function formatDuration(durationMs: number): string {
  const wholeMs = Math.max(0, Math.round(durationMs));
  if (wholeMs < 1000) return `${wholeMs}ms`;
  let rest = Math.round(durationMs / 1000) * 1000;
  const parts: string[] = [];
  for (const [name, size] of UNITS) {
    const whole = Math.floor(rest / size);
    rest -= whole * size;
    if (whole > 0) parts.push(`${whole}${name}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

/** `2026-11-23T17:00:00.000Z`; workflows have no other format for times that scripts read. */
export const formatTime = (atMs: number): string => new Date(atMs).toISOString();

/** `paused by user:alice: lunch`; without a reason, which a signal may leave out, there is no colon. */
export const withReason = (text: string, reason: string): string => (reason === '' ? text : `${text}: ${reason}`);

/** Names the service that refused a call, and the reason; an answer that already has both stays unchanged. */
export const refusalWords = (by: string, method: string, why: string): string =>
  why.startsWith(`${by} `) && why.includes(` ${method} `) ? why : `${by} refused ${method}: ${why}`;

/** `3 tasks`, `1 task`. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The verb after a count: `1 pipeline waits`, `2 pipelines wait`. */
export const conjugate = (count: number, verb: string): string => `${verb}${count === 1 ? 's' : ''}`;

/** `a, b and c` */
export const joinWords = (words: readonly string[], last: 'and' | 'or'): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1) ?? ''}`;

/** The time of a task queue's last poll, to append: ` (last poll: 2026-11-24T17:30:56.000Z)`, or nothing. */
export const lastPollWords = (at: string | null): string => (at === null ? '' : ` (last poll: ${at})`);
