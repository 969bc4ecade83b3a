"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.conjugate = void 0;exports.formatDuration = formatDuration;exports.withReason = exports.refusalWords = exports.plural = exports.lastPollWords = exports.joinWords = exports.formatTime = void 0; /** The wording that all messages for people share. */

const UNITS = [
['d', 86_400_000],
['h', 3_600_000],
['m', 60_000],
['s', 1000]];


/** `1h 30m`, `45s`, `250ms`: the two largest non-zero units. */
function formatDuration(durationMs) {
  const wholeMs = Math.max(0, Math.round(durationMs));
  if (wholeMs < 1000) return `${wholeMs}ms`;
  let rest = Math.round(durationMs / 1000) * 1000;
  const parts = [];
  for (const [name, size] of UNITS) {
    const whole = Math.floor(rest / size);
    rest -= whole * size;
    if (whole > 0) parts.push(`${whole}${name}`);else
    if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

/** `2026-11-23T17:00:00.000Z`; workflows have no other format for times that scripts read. */
const formatTime = (atMs) => new Date(atMs).toISOString();

/** `paused by user:alice: lunch`; without a reason, which a signal may leave out, there is no colon. */exports.formatTime = formatTime;
const withReason = (text, reason) => reason === '' ? text : `${text}: ${reason}`;

/** Names the service that refused a call, and the reason; an answer that already has both stays unchanged. */exports.withReason = withReason;
const refusalWords = (by, method, why) =>
why.startsWith(`${by} `) && why.includes(` ${method} `) ? why : `${by} refused ${method}: ${why}`;

/** `3 tasks`, `1 task`. */exports.refusalWords = refusalWords;
const plural = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The verb after a count: `1 pipeline waits`, `2 pipelines wait`. */exports.plural = plural;
const conjugate = (count, verb) => `${verb}${count === 1 ? 's' : ''}`;

/** `a, b and c` */exports.conjugate = conjugate;
const joinWords = (words, last) =>
words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1) ?? ''}`;

/** The time of a task queue's last poll, to append: ` (last poll: 2026-11-24T17:30:56.000Z)`, or nothing. */exports.joinWords = joinWords;
const lastPollWords = (at) => at === null ? '' : ` (last poll: ${at})`;exports.lastPollWords = lastPollWords; /* v9-4691aa3050672c91 */
