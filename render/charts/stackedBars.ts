import type { Breakdown } from '../../domain/stats/report';
import { percent } from '../words';
import { assignColors, MOST_COLORS, OTHERS } from './palette';
import { element, hint, LEFT, nameAt, RIGHT, svg, textAt, WIDTH } from './svg';

/** A chart, and the meanings of its colours. */
export interface Chart {
  readonly svg: string;
  readonly legend: readonly { readonly color: string; readonly word: string }[];
}

const [ROW, BAR] = [38, 24] as const;
/** A share that is wide enough for its number. */
const LEAST_LABELLED = 42;

/** A stackedBar for each category, cut into shares of its whole. `sizeOf` returns the size of the whole. */
export function drawStackedBars(says: string, rows: readonly Breakdown[], sizeOf: (row: Breakdown) => string): Chart {
  const own = pickColoredWords(rows);
  const folded = rows.map((row) => ({ ...row, counts: foldRare(row.counts, own) }));
  const words = Object.keys(folded[0]?.counts ?? {}).filter((word) => folded.some(({ counts }) => counts[word]));
  const colors = assignColors(words);
  const bars = folded.map((row, nth) => drawStackedBar(row, nth * ROW, words, colors, sizeOf(row)));
  const legend = words.map((word) => ({ word, color: colors.get(word) ?? '' }));
  return { svg: svg(rows.length * ROW, says, ...bars), legend };
}

function drawStackedBar(
  { category, counts, whole }: Breakdown,
  y: number,
  words: readonly string[],
  colors: ReadonlyMap<string, string>,
  size: string,
): string {
  const width = WIDTH - LEFT - RIGHT;
  let x = LEFT;
  const parts = words.map((word) => {
    const share = whole === 0 ? 0 : (counts[word] ?? 0) / whole;
    const from = x;
    x += share * width;
    if (share === 0) return '';
    const text = percent(share);
    const box = element('rect', { x: from, y: y + 7, width: x - from, height: BAR, class: colors.get(word) ?? '' });
    const label = x - from < LEAST_LABELLED ? '' : textAt((from + x) / 2, y + 24, text, { class: 'on' });
    return element('g', { class: 'part' }, hint(`${category}: ${word} ${text}`), box, label);
  });
  return nameAt(y + 24, category) + parts.join('') + textAt(WIDTH - RIGHT + 10, y + 24, size, { class: 'size' });
}

/** The words with their own colour: all of them, or the most frequent. */
function pickColoredWords(rows: readonly Breakdown[]): ReadonlySet<string> {
  const sums = new Map<string, number>();
  for (const { counts, whole } of rows)
    for (const [word, count] of Object.entries(counts)) sums.set(word, (sums.get(word) ?? 0) + count / (whole || 1));
  if (sums.size <= MOST_COLORS) return new Set(sums.keys());
  const byShare = [...sums].sort(([, a], [, b]) => b - a);
  return new Set(byShare.slice(0, MOST_COLORS - 1).map(([word]) => word));
}

function foldRare(counts: Breakdown['counts'], own: ReadonlySet<string>): Breakdown['counts'] {
  const shown = Object.entries(counts).filter(([word]) => own.has(word));
  const rest = Object.entries(counts).reduce((sum, [word, count]) => sum + (own.has(word) ? 0 : count), 0);
  return Object.fromEntries(own.size < Object.keys(counts).length ? [...shown, [OTHERS, rest]] : shown);
}
