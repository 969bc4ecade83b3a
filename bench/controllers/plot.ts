/** One curve of a panel: points of x and y, drawn as steps. */
export interface Curve {
  readonly label: string;
  readonly colour: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Panel {
  readonly title: string;
  readonly curves: readonly Curve[];
}

export interface Plot {
  readonly xLabel: string;
  readonly panels: readonly Panel[];
  /** Shaded ranges of x. */
  readonly spans?: readonly { readonly from: number; readonly to: number; readonly label: string }[];
}

const WIDTH = 720;
const HEIGHT = 260;
const LEFT = 60;
const TOP = 34;
const PLOT = { width: WIDTH - LEFT - 20, height: HEIGHT - TOP - 40 };

/** Panels below each other that share their x axis, as an SVG document. */
export function drawPlot(plot: Plot): string {
  const size = `width="${WIDTH}" height="${HEIGHT * plot.panels.length}"`;
  const font = 'font-family="sans-serif" font-size="12"';
  const longest = Math.max(
    ...plot.panels.flatMap(({ curves }) => curves.flatMap(({ points }) => points.map(([x]) => x))),
  );
  const panels = plot.panels.map((panel, index) => {
    const parts = drawPanel(panel, plot, longest);
    return `<g transform="translate(0 ${index * HEIGHT})">\n${parts.join('\n')}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>\n<rect ${size} fill="#fff"/>\n${panels.join('\n')}\n</svg>\n`;
}

function drawPanel({ title, curves }: Panel, { xLabel, spans = [] }: Plot, longest: number): string[] {
  const most = Math.max(...curves.flatMap(({ points }) => points.map(([, value]) => value)));
  const yTicks = ticksOf(most);
  const top = Math.max(most, ...yTicks);
  const x = (value: number): number => LEFT + (value / longest) * PLOT.width;
  const y = (value: number): number => TOP + PLOT.height - (value / top) * PLOT.height;
  const box = `y="${TOP}" height="${PLOT.height}"`;
  return [
    ...spans.flatMap(({ from, to, label }) => [
      `<rect x="${x(from).toFixed(1)}" width="${(x(to) - x(from)).toFixed(1)}" ${box} fill="#eee"/>`,
      text(x((from + to) / 2), TOP + 14, label, 'middle', '#777'),
    ]),
    `<rect x="${LEFT}" width="${PLOT.width}" ${box} fill="none" stroke="#999"/>`,
    ...yTicks.map((value) => text(LEFT - 6, y(value) + 4, value.toLocaleString('en'), 'end')),
    ...ticksOf(longest).flatMap((value) =>
      value > longest ? [] : [text(x(value), TOP + PLOT.height + 16, String(value), 'middle')],
    ),
    ...curves.flatMap(({ label, colour, points }, index) => [
      `<path d="${steps(points, x, y)}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
      text(LEFT + PLOT.width - 8, TOP + 14 + 16 * index, label, 'end', colour),
    ]),
    text(LEFT, TOP - 10, title),
    text(LEFT + PLOT.width / 2, HEIGHT - 8, xLabel, 'middle'),
  ];
}

/** Horizontal until the next point, then straight up or down; points without a change are left out. */
function steps(points: Curve['points'], x: (value: number) => number, y: (value: number) => number): string {
  const told = points.filter(
    ([, value], index) => index === 0 || index === points.length - 1 || value !== points[index - 1]?.[1],
  );
  return told
    .map(([px, py], index) => `${index === 0 ? `M${x(px).toFixed(1)} ` : `H${x(px).toFixed(1)}V`}${y(py).toFixed(1)}`)
    .join('');
}

/** From 0 to the first tick that reaches `most`, about four of them, at round numbers. */
function ticksOf(most: number): number[] {
  const unit = 10 ** Math.floor(Math.log10(most / 4));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * unit).find((size) => size >= most / 4 - 1e-9) ?? most;
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, index) => Number((index * step).toPrecision(6)));
}

const text = (x: number, y: number, content: string, anchor = 'start', colour = '#333'): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${colour}">${content}</text>`;
