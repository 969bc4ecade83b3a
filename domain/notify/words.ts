import { formatIdentity } from '../artifact';
import { onOneLine } from '../plainText';
import { noticeHeadline, type Notice } from './notice';

/** Names and values of a notice, for services that show them in a table. */
export function listNoticeFacts(notice: Notice): readonly (readonly [name: string, value: string])[] {
  const { release, deploy, phase, pushType, actor, artifacts, at } = notice;
  const facts: readonly (readonly [string, string | null])[] = [
    ['release', release],
    ['deploy', deploy],
    ['phase', phase],
    ['push type', pushType],
    ['artifacts', artifacts.length === 0 ? null : artifacts.map(formatIdentity).join(', ')],
    ['by', actor],
    ['at', at],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, onOneLine(value)] as const]));
}

/** The headline on one line, cut to the length that a service accepts. */
export const cutHeadline = (notice: Notice, length: number): string => cutLine(noticeHeadline(notice), length);

/** A text on one line with at most this many characters; an ellipsis marks a cut. */
export function cutLine(text: string, length: number): string {
  const line = onOneLine(text);
  return line.length <= length ? line : `${line.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
