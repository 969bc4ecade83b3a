import type { HealthRow } from '../../domain/views';
import { figure } from '../../render/deploy';

const CHART_WIDTH = 220;
const CHART_HEIGHT = 44;
const TOP = 4;

/** A level that is drawn across the chart. */
interface Mark {
  readonly kind: 'limit' | 'reference';
  /** How it looks, and what it is. */
  readonly words: string;
  readonly at: number;
}

/** The last values of a check, oldest first, with its limit and the value it is compared with. Nothing for fewer than two values. */
export function CheckSeries({ row }: { readonly row: HealthRow }) {
  const points = (row.recent ?? []).filter(Number.isFinite);
  if (points.length < 2) return null;
  const marks = [
    { kind: 'limit', words: 'dashed: limit', at: row.threshold },
    { kind: 'reference', words: 'dotted: compared with', at: row.reference },
  ].filter((mark): mark is Mark => mark.at !== null && Number.isFinite(mark.at));
  const all = [...points, ...marks.map(({ at }) => at)];
  const [low, high] = [Math.min(0, ...all), Math.max(...all)];
  const yOf = (value: number): number =>
    Math.round((TOP + (1 - (value - low) / (high - low || 1)) * (CHART_HEIGHT - 2 * TOP)) * 10) / 10;
  const xOf = (nth: number): number => Math.round((nth / (points.length - 1)) * CHART_WIDTH * 10) / 10;
  const line = points.map((value, nth) => `${nth === 0 ? 'M' : 'L'}${xOf(nth)} ${yOf(value)}`).join('');
  const words = `${row.check} of ${row.unit} in the last ${points.length} evaluations, from ${figure(low)} to ${figure(high)}`;
  return (
    <figure class="series">
      <svg
        viewBox={`0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`}
        width={CHART_WIDTH}
        height={CHART_HEIGHT}
        role="img"
        aria-label={words}
      >
        {marks.map(({ kind, at }) => (
          <path class={kind} d={`M0 ${yOf(at)}H${CHART_WIDTH}`} />
        ))}
        <path class={row.verdict === 'unhealthy' ? 'line bad' : 'line'} d={line} />
      </svg>
      <figcaption>
        {figure(low)} to {figure(high)}, last {points.length} evaluations
        {marks.map(({ words, at }) => `; ${words} ${figure(at)}`)}
      </figcaption>
    </figure>
  );
}
