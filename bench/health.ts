import { evaluateCheck, type Evaluation } from '../domain/health/evaluate';
import type { HealthSeries, Side, TimeRange } from '../domain/health/series';
import { healthCheckSchema } from '../domain/spec/health';
import { seriesFromAnswer } from '../sdk/health/prometheusAnswer';

/**
 * `npx jiti bench/health.ts [checks] [tasks] [minutes]`: the verdicts of that many checks, each over all points of all tasks; for comparison, the
 * sums of the same points and nothing else. Then an answer of Prometheus with the points of one check.
 */
const [checks = 100, tasks = 10_000, minutes = 60] = process.argv.slice(2).map(Number);
const MINUTE_MS = 60_000;
const END = Date.UTC(2026, 0, 5, 12);

function main(): void {
  const window = { start: END - minutes * MINUTE_MS, end: END };
  const data = { fresh: sideOf('new', tasks), control: sideOf('old', tasks), before: sideOf('was', tasks) };
  console.log(`checks, tasks, minutes        ${checks}, ${tasks}, ${minutes}`);
  const points = checks * tasks * minutes;
  const bound = { name: 'cpu', metric: 'cpu', threshold: { above: 0.9 }, lookback: `${minutes}m` };
  const plain = fastest(() => {
    for (let nth = 0; nth < checks; nth += 1) plainMean(data.fresh, window);
  });
  print('plain sums of as many points', plain, points);
  const kinds: [string, object, number][] = [
    ['threshold', {}, 1],
    ['threshold, average of 3m', { transform: [{ average: '3m' }] }, 1],
    ['threshold, rate and p99', { transform: ['rate'], reduce: 'p99' }, 1],
    ['compared with control', { threshold: { increase: '10%' }, compare: 'control' }, 2],
    ['mann-whitney', { threshold: { increase: '10%' }, compare: 'control', method: 'mann-whitney' }, 2],
  ];
  for (const [title, fields, sides] of kinds) {
    const check = healthCheckSchema.parse({ ...bound, ...fields });
    // A comparison counts the tasks of both of its sides.
    const evaluation = { check, ...halved(data, sides), window, baseline: window };
    const ms = fastest(() => evaluateAll(evaluation));
    print(title, ms, points);
    console.log(`  ratio to plain sums         ${(ms / plain).toFixed(1)}`);
  }
  const answer = prometheusAnswer(data.fresh);
  const parsed = fastest(() => seriesFromAnswer(JSON.parse(answer), window, 'task'));
  print(`answer of ${(answer.length / 1e6).toFixed(0)} MB, parsed`, parsed, tasks * minutes);
}

function evaluateAll(evaluation: Evaluation): void {
  for (let nth = 0; nth < checks; nth += 1)
    if (evaluateCheck(evaluation).verdict !== 'healthy') throw new Error(evaluateCheck(evaluation).reason);
}

function plainMean({ series }: Side, window: TimeRange): number {
  let sum = 0;
  let count = 0;
  for (const { points } of series)
    for (const point of points)
      if (point[0] > window.start && point[0] <= window.end) {
        sum += point[1];
        count += 1;
      }
  return sum / count;
}

const halved = (data: Record<'fresh' | 'control' | 'before', Side>, sides: number) => {
  const part = ({ series }: Side): Side => ({ tasks: tasks / sides, series: series.slice(0, tasks / sides) });
  return { fresh: part(data.fresh), control: part(data.control), before: part(data.before) };
};

/** One point a minute for each task, around one half; the same in each run. */
function sideOf(name: string, count: number): Side {
  const series = Array.from({ length: count }, (_, slot): HealthSeries => {
    const points = Array.from({ length: minutes }, (_unused, minute): [number, number] => [
      END - (minutes - 1 - minute) * MINUTE_MS,
      0.5 + 0.1 * Math.sin(slot * 12.9898 + minute * 78.233),
    ]);
    return { labels: { task: `${name}/${slot}@1` }, points };
  });
  return { tasks: count, series };
}

function prometheusAnswer({ series }: Side): string {
  const result = series.map(({ labels, points }) => ({
    metric: { __name__: 'cpu', instance: '10.0.0.1:9100', job: 'kvstore', ...labels },
    values: points.map(([at, value]) => [at / 1000, String(value)]),
  }));
  return JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } });
}

/** CPU time, the least of three runs, so that other users of the machine matter little. */
function fastest(work: () => unknown): number {
  const times = [1, 2, 3].map(() => {
    const begun = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

const print = (title: string, ms: number, points: number): void =>
  console.log(`${title.padEnd(30)}${Math.round(ms)} ms (${((ms * 1e6) / points).toFixed(1)} ns a point)`);

main();
