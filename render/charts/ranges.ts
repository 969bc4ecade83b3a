import { axis, type Scale } from './scale';
import { element, hint, rule, LEFT, nameAt, RIGHT, svg, textAt, WIDTH } from './svg';

/** A value with its margin of error, or the two ends of a range. */
export interface RangeMark {
  readonly low: number;
  readonly value: number;
  readonly high: number;
  readonly color: string;
  readonly says: string;
  /** At the end of the row. */
  readonly label?: string;
}

export interface RangeRow {
  readonly name: string;
  readonly marks: readonly RangeMark[];
}

/** A value to compare the others with. */
export interface TargetLine {
  readonly at: number;
  readonly words: string;
}

const [ROW, BETWEEN, HEAD, FOOT] = [22, 12, 18, 26] as const;

/** A row of dots with whiskers for each category, on one axis. */
export function ranges(
  says: string,
  rows: readonly RangeRow[],
  scale: Scale,
  words: (value: number) => string,
  targets: readonly TargetLine[] = [],
): string {
  const head = targets.length === 0 ? 0 : HEAD;
  let y = 0;
  const drawn = rows.map((row) => {
    const from = y;
    y += row.marks.length * ROW + BETWEEN;
    return rangeRow(row, from, scale);
  });
  const limits = targets.map(
    ({ at, words: said }, nth) =>
      rule(scale.at(at), -4, scale.at(at), y, 'target') +
      // The first label is above the names, so that two close ones do not overlap.
      textAt(scale.at(at) + (nth === 0 ? -4 : 4), -6, said, { class: nth === 0 ? 'limit before' : 'limit' }),
  );
  const body = [axis(scale, y, words), ...limits, ...drawn];
  return svg(y + head + FOOT, says, element('g', { transform: `translate(0 ${head})` }, ...body));
}

function rangeRow({ name, marks }: RangeRow, y: number, { at }: Scale): string {
  const drawn = marks.map(({ low, value, high, color, says, label }, nth) => {
    const middle = y + BETWEEN / 2 + (nth + 0.5) * ROW;
    const whisker = rule(at(low), middle, at(high), middle, `whisker line-${color}`);
    const dot = element('circle', { cx: at(value), cy: middle, r: 5, class: color });
    const end = label === undefined ? '' : textAt(WIDTH - RIGHT + 10, middle + 4, label, { class: 'size' });
    return element('g', { class: 'part' }, hint(says), whisker, dot, end);
  });
  const base = y + BETWEEN + marks.length * ROW;
  return (
    nameAt(y + BETWEEN / 2 + (marks.length * ROW) / 2 + 4, name) +
    rule(LEFT, base, WIDTH - RIGHT, base, 'grid') +
    drawn.join('')
  );
}
