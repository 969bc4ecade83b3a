import { healthCheckSchema } from '../../domain/spec/health';
import { judgeTargets } from '../../sdk';
import type { Query } from '../../sdk/health/sides';

/** A metric that only exists once something happened: silence is zero of tasks that are known to be asked, and of no others. */

const NOW = 1_800_000_000_000;
const TASKS = ['x/0', 'x/1'];
const check = (more: object = {}) =>
  healthCheckSchema.parse({ name: 'errors', metric: 'errors_total', threshold: { above: 5 }, transform: [{ fill: 'zero' }], ...more }); // prettier-ignore

type Up = Readonly<Record<string, number>> | 'refused';

/** Nothing of the metric, and what is said of `up`. */
async function judged(up: Up, { checks = [check()], errors = {} as Readonly<Record<string, number>> } = {}) {
  const asked: string[] = [];
  const seriesOf = (values: Readonly<Record<string, number>>) => ({
    series: Object.entries(values).map(([task, value]) => ({
      labels: { task },
      points: [40_000, 20_000, 0].map((ago): [number, number] => [NOW - ago, value]),
    })),
  });
  const query: Query = ({ metric }) => {
    asked.push(metric);
    if (metric !== 'up') return Promise.resolve(seriesOf(errors));
    return up === 'refused' ? Promise.reject(new Error('there is no metric up')) : Promise.resolve(seriesOf(up));
  };
  const { units } = await judgeTargets({
    checks,
    targets: [{ id: 'x', fresh: TASKS, control: [], before: [] }],
    ...{ baseline: { start: NOW - 600_000, end: NOW - 300_000 }, now: NOW, query },
  });
  return { verdict: units[0]?.checks[0]?.verdict, observed: units[0]?.checks[0]?.observed, asked };
}

test('all tasks are silent and scraped: each counts as zero, which is healthy', async () => {
  expect(await judged({ 'x/0': 1, 'x/1': 1 })).toEqual({
    verdict: 'healthy',
    observed: 0,
    asked: ['errors_total', 'up'],
  });
});

test.each<[string, Up]>([
  ['are down', { 'x/0': 0, 'x/1': 0 }],
  ['are down in part', { 'x/0': 1, 'x/1': 0 }],
  ['are known to the scrapes in part', { 'x/0': 1 }],
  ['are known to no scrape', {}],
  ['are of a source that has no such metric', 'refused'],
])('tasks that %s stay silent, which is no health', async (_, up) => {
  expect(await judged(up)).toMatchObject({ verdict: 'inconclusive' });
});

test('a reporting task is judged by its report, without asking whether it is scraped', async () => {
  const { verdict, asked } = await judged({}, { errors: { 'x/0': 9, 'x/1': 9 } });
  expect([verdict, asked]).toEqual(['unhealthy', ['errors_total']]);
});

test('without fill a silent task is silent, whatever is scraped', async () => {
  const { verdict, asked } = await judged({ 'x/0': 1, 'x/1': 1 }, { checks: [check({ transform: [] })] });
  expect([verdict, asked]).toEqual(['inconclusive', ['errors_total']]);
});
