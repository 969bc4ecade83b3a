import { escapeXml } from '../markup';
import { formatDuration, formatTime } from '../text';
import type { Backtest, BacktestedDeploy } from './backtest';
import { formatValue } from './bound';
import type { ReplayedEvaluation } from './replay';
import type { Verdict } from './verdict';

/** In pixels. */
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, HEAD] = [960, 170, 70, 20, 44, 24, 54] as const;
const COLORS: Readonly<Record<Verdict, string>> = {
  healthy: '#2e7d32',
  inconclusive: '#9e9e9e',
  errored: '#f9a825',
  unhealthy: '#c62828',
};

/**
 * A check on past deploys as one SVG. Each deploy shows the observed values, the values that they were compared with, the limit, and the
 * verdict of every evaluation. Hovering shows the sentence.
 */
export function drawBacktest({ check, tried }: Backtest): string {
  const shown = tried.filter(({ evaluations }) => evaluations.length > 0);
  const height = HEAD + Math.max(1, shown.length) * HEIGHT;
  const legend = (Object.keys(COLORS) as Verdict[]).map(
    (verdict, index) =>
      dot(LEFT + 6 + index * 110, 38, verdict, '') + textElement(LEFT + 16 + index * 110, 42, verdict),
  );
  const lines = '— observed   - - compared with   ··· limit';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="sans-serif" font-size="12">`,
    `<title>${escapeXml(`${check} on ${shown.length} past deploys`)}</title>`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    textElement(LEFT, 20, check, 'font-size="15" font-weight="bold"'),
    ...legend,
    textElement(LEFT + 460, 42, lines),
    ...shown.map((one, index) => `<g transform="translate(0 ${HEAD + index * HEIGHT})">${panel(one)}</g>`),
    shown.length === 0 ? textElement(LEFT, HEAD + 20, 'nothing was evaluated') : '',
    '</svg>\n',
  ].join('\n');
}

function panel({ id, result, why, foundAt, foundAfterMs, evaluations }: BacktestedDeploy): string {
  const { x, y, from, until, low, high } = computeScales(evaluations);
  const path = (valueOf: (one: ReplayedEvaluation) => number | null, style: string): string => {
    const points = evaluations.flatMap((one) => {
      const value = valueOf(one);
      return value === null ? [] : [`${x(one.at)},${y(value)}`];
    });
    return `<polyline fill="none" ${style} points="${points.join(' ')}"/>`;
  };
  const base = HEIGHT - BOTTOM;
  const found =
    foundAt === null
      ? ''
      : `<line x1="${x(foundAt)}" x2="${x(foundAt)}" y1="${TOP}" y2="${base}" stroke="${COLORS.unhealthy}"/>`;
  const after = foundAfterMs === null ? '' : `, after ${formatDuration(foundAfterMs)}`;
  return [
    textElement(LEFT, 16, `${id}: ${result.replace('-', ' ')}${after}`, 'font-weight="bold"'),
    textElement(LEFT, 32, why, 'fill="#555555"'),
    `<rect x="${LEFT}" y="${TOP}" width="${WIDTH - LEFT - RIGHT}" height="${base - TOP}" fill="#fafafa" stroke="#dddddd"/>`,
    path(({ threshold }) => threshold, `stroke="${COLORS.unhealthy}" stroke-dasharray="2 3"`),
    path(({ reference }) => reference, 'stroke="#777777" stroke-dasharray="6 4"'),
    path(({ observed }) => observed, 'stroke="#1a237e"'),
    found,
    ...evaluations.map(({ at, observed, verdict, reason }) => dot(x(at), y(observed ?? low), verdict, reason)),
    textElement(LEFT - 6, TOP + 10, formatValue(high), 'text-anchor="end"'),
    textElement(LEFT - 6, base, formatValue(low), 'text-anchor="end"'),
    textElement(LEFT, HEIGHT - 8, formatTime(from)),
    textElement(WIDTH - RIGHT, HEIGHT - 8, `+${formatDuration(until - from)}`, 'text-anchor="end"'),
  ].join('');
}

/** The positions of times and values; a constant value is in the middle. */
function computeScales(evaluations: readonly ReplayedEvaluation[]) {
  const values = evaluations.flatMap(({ observed, reference, threshold }) =>
    [observed, reference, threshold].filter((value) => value !== null),
  );
  // There are too many values for the arguments of one call.
  const least = values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const [low, high] = values.length === 0 ? [0, 1] : least === most ? [least - 1, most + 1] : [least, most];
  const [from, until] = [evaluations[0]?.at ?? 0, evaluations.at(-1)?.at ?? 0];
  const x = (at: number): number =>
    roundPixels(LEFT + ((WIDTH - LEFT - RIGHT) * (at - from)) / Math.max(1, until - from));
  const y = (value: number): number =>
    roundPixels(HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * (value - low)) / (high - low));
  return { x, y, from, until, low, high };
}

const roundPixels = (pixels: number): number => Math.round(pixels * 10) / 10;

/** An unhealthy point is also larger: some readers cannot distinguish colours. */
const dot = (x: number, y: number, verdict: Verdict, reason: string): string =>
  `<circle cx="${x}" cy="${y}" r="${verdict === 'unhealthy' ? 5 : 3}" fill="${COLORS[verdict]}"><title>${escapeXml(reason)}</title></circle>`;

const textElement = (x: number, y: number, content: string, style: string = ''): string =>
  `<text x="${x}" y="${y}" ${style}>${escapeXml(content)}</text>`;
