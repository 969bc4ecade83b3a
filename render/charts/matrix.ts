import type { Breakdown } from '../../domain/stats/report';
import { percent } from '../words';
import { element, hint, LEFT, nameAt, svg, textAt, WIDTH } from './svg';

const [HEAD, ROW, FOOT] = [74, 34, 4] as const;
/** The most columns that are wide enough for their numbers. */
export const MOST_WORDS = 12;

/**
 * A cell for each category and word, the darker the larger its share; only the most frequent words if there are many.
 */
export function shareMatrix(says: string, rows: readonly Breakdown[]): string {
  const words = frequent(rows);
  const wide = Math.min(76, (WIDTH - LEFT) / Math.max(1, words.length));
  const heads = words.map((word, nth) => {
    const [x, y] = [LEFT + (nth + 0.5) * wide, HEAD - 10];
    return textAt(x, y, word, { class: 'slanted', transform: `rotate(-35 ${x} ${y})` });
  });
  const lines = rows.map(({ category, counts, whole }, at) => {
    const y = HEAD + at * ROW;
    const cells = words.map((word, nth) => {
      const share = whole === 0 ? 0 : (counts[word] ?? 0) / whole;
      const box = { x: LEFT + nth * wide + 1, y: y + 1, width: wide - 2, height: ROW - 2, rx: 3 };
      return element(
        'g',
        { class: 'part' },
        hint(`${category}: ${word} ${percent(share)}`),
        element('rect', { ...box, class: 'cell' }),
        element('rect', { ...box, class: 'color0', opacity: share * 0.9 }),
        textAt(LEFT + (nth + 0.5) * wide, y + 21, percent(share), { class: share > 0.5 ? 'on' : 'middle' }),
      );
    });
    return nameAt(y + 21, category) + cells.join('');
  });
  return svg(HEAD + rows.length * ROW + FOOT, says, ...heads, ...lines);
}

function frequent(rows: readonly Breakdown[]): readonly string[] {
  const words = Object.keys(rows[0]?.counts ?? {});
  const mostOf = (word: string): number =>
    Math.max(...rows.map(({ counts, whole }) => (whole === 0 ? 0 : (counts[word] ?? 0) / whole)));
  return [...words].sort((a, b) => mostOf(b) - mostOf(a)).slice(0, MOST_WORDS);
}
