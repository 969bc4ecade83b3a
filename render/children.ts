import { plural } from '../domain/text';
import type { ChildrenView } from '../domain/views';
import { alignRows } from './columns';
import { tint, wrap, type Colors, type View } from './paint';
import { progressBar, type StatusSymbol } from './words';

export const CHILDREN_SYMBOLS: Readonly<Record<ChildrenView['state'], StatusSymbol>> = {
  selecting: { glyph: '◌', tone: 'busy' },
  first: { glyph: '◌', tone: 'busy' },
  running: { glyph: '◌', tone: 'busy' },
  succeeded: { glyph: '✔', tone: 'good' },
  failed: { glyph: '✖', tone: 'bad' },
  cancelled: { glyph: '⚠', tone: 'warn' },
};

const CHILD_COUNTS = [
  ['succeeded', 'succeeded'],
  ['running', 'running'],
  ['waiting', 'waiting'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
  ['notStarted', 'not started'],
] as const;

/** The releases that a parent starts: their counts by state, and the failed ones. */
export function childrenSection(children: ChildrenView | null, view: View, colors: Colors): string[] {
  if (children === null) return [];
  const { state, total, failures, reason } = children;
  const { glyph, tone } = CHILDREN_SYMBOLS[state];
  const over = total === 0 ? 0 : (total - children.waiting - children.running) / total;
  const shown = failures.slice(0, view.compact ? 3 : 10);
  const others = children.failed + children.cancelled - shown.length;
  return [
    `${colors.bold('Children')}  ${tint(colors, tone, `${glyph} ${CHILDREN_WORDS[state]}`)}  ${progressBar(over, colors)}  ${childrenWords(children)}`,
    ...(reason === null ? [] : wrap(reason, Math.max(20, view.width - 2)).map((line) => `  ${line}`)),
    ...alignRows(shown.map((one) => [`  ${colors.red('✖')} ${one.id}`, one.state, one.reason])),
    ...(others > 0 && shown.length > 0 ? [colors.dim(`  … and ${others} more`)] : []),
  ];
}

/** `300 releases: 8 succeeded, 50 running`. */
export function childrenWords(children: ChildrenView): string {
  const counts = CHILD_COUNTS.filter(([key]) => children[key] > 0).map(([key, word]) => `${children[key]} ${word}`);
  return `${plural(children.total, 'release')}: ${counts.join(', ') || 'none'}`;
}

export const CHILDREN_WORDS: Readonly<Record<ChildrenView['state'], string>> = {
  selecting: 'selecting',
  first: 'the first ones',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};
