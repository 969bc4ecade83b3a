import { advise } from '../../../../domain/spec/advice/advise';
import { DAY_MS } from '../../../../domain/milliseconds';
import type { PipelineSource } from '../../../../domain/spec/pipeline';
import { formatPath } from '../../../../domain/spec/problem';
import { statsReport } from '../../../../domain/stats/report';
import type { Tallies } from '../../../../domain/stats/tallies';
import { specOf } from '../../../builders/pipelineWorld';
import { letPass, pastRelease, through } from '../../../builders/historyRows';
import { NO_TALLIES } from '../../../builders/statsTallies';

const CHECK = { name: 'errors', metric: 'rpc.errors', threshold: { above: 1 } };
const WINDOW = { days: ['mon', 'tue'], from: '09:00', to: '12:00', timezone: 'UTC' };
const REGION = { scope: 'region:a', amount: '100%', bake: '30m' };

/** A pipeline without any advice, except for the given changes of its deploy. */
function pipeline(change: object = {}, deploy: object = {}, others: object = {}, more: Partial<PipelineSource> = {}) {
  const phases = [{ scope: '*', amount: '1%', bake: '10m' }, REGION];
  const whole = { pushType: 'twine', healthChecks: [CHECK], phases, ...change };
  const own = { deploy: { type: 'deploy', inputs: ['executable'], with: whole, window: WINDOW, ...deploy } };
  const actions = { ...others, ...own } as unknown as PipelineSource['actions'];
  return specOf(['deploy'], { labels: { category: 'regular' }, actions, ...more });
}
const stats = (tallies: Partial<Tallies>) =>
  statsReport({ ...NO_TALLIES, ...tallies }, { sinceMs: 0, untilMs: DAY_MS, readUntilMs: DAY_MS });
const told = (spec: ReturnType<typeof pipeline>, report: ReturnType<typeof stats> | null = null) =>
  advise(spec, report).map(({ code, path }) => `${code} ${formatPath(path)}`);
const sharesOf = (...amounts: string[]) => ({
  phases: [...amounts.map((amount) => ({ scope: '*', amount, bake: '5m' })), REGION].slice(0, amounts.length),
});

test('a pipeline that follows all recommendations gets none', () => {
  expect(told(pipeline())).toEqual([]);
});

test.each<[string, Parameters<typeof pipeline>, string]>([
  ['no phases', [{ phases: undefined }], 'no-whole-region actions.deploy.with.phases'],
  ['no phase of a whole region', [sharesOf('1%', '10%', '40%')], 'no-whole-region actions.deploy.with.phases'],
  ['equal steps', [sharesOf('10%', '20%')], 'grow-phases actions.deploy.with.phases[1].amount'],
  ['a last step that is less', [sharesOf('10%', '70%')], 'grow-phases actions.deploy.with.phases[1].amount'],
  ['no health checks', [{ healthChecks: [] }], 'no-health-checks actions.deploy.with.healthChecks'],
  [
    'no bake',
    [{ phases: [{ scope: '*', amount: '1%', bake: '0s' }, REGION] }],
    'no-bake actions.deploy.with.phases[0].bake',
  ],
  [
    'a window on Fridays',
    [{}, { window: { ...WINDOW, days: ['mon', 'fri'] } }],
    'late-in-the-week actions.deploy.window.days',
  ],
  [
    'a window after noon',
    [{}, { window: [{ ...WINDOW, from: '13:00', to: '15:00' }] }],
    'mornings actions.deploy.window[0].from',
  ],
  ['no window and no test', [{}, { window: undefined }], 'mornings actions.deploy.window'],
])('one with %s is advised, at its place', (_, changed, expected) => {
  expect(told(pipeline(...changed))).toContain(expected);
});

test.each<[string, Parameters<typeof pipeline>[2]]>([
  ['a test comes before, besides health checks', { more: { type: 'integr-test', inputs: ['executable'] } } as never],
  ['a person picks', { more: { type: 'manual-pick' } } as never],
])('a deploy at any hour is no concern where %s', (_, more) => {
  expect(told(pipeline({}, { window: undefined }, more))).toEqual([]);
});

test('nor where people start every release', () => {
  expect(told(pipeline({}, { window: undefined }, {}, { schedule: { mode: 'manual' } }))).toEqual([]);
});

test('advises hours for the first of several deploys, once', () => {
  const { deploy } = pipeline({}, { window: undefined }).actions;
  const spec = { ...pipeline(), actions: { first: deploy, second: deploy } } as ReturnType<typeof pipeline>;
  expect(told(spec)).toEqual(['mornings actions.first.window']);
});

test('a phase that adds nothing is not a step', () => {
  expect(told(pipeline(sharesOf('5%', '5%', '20%', '25%')))).toContain(
    'grow-phases actions.deploy.with.phases[3].amount',
  );
});

test('steps of a part of the fleet are not compared: how large they are only the fleet knows', () => {
  const phases = [{ scope: 'region:a', amount: '50%', bake: '5m' }, REGION];
  expect(told(pipeline({ phases }))).not.toContainEqual(expect.stringContaining('grow-phases'));
});

const regular = 'regular';
const failedAt = (...counts: readonly (readonly [number, number])[]) => ({
  progress: counts.map(([tenth, count]) => ({ category: regular, tenth, count })),
});
const having = (count: number, of: number) => ({
  cadences: [{ category: regular, cadence: 'daily' as const, count: of }],
  actionTypes: [{ category: regular, type: 'canary', count }],
});

test.each<[string, Partial<Tallies>, string[]]>([
  ['half of its pipelines have a canary', having(5, 10), ['canary actions']],
  ['fewer have', having(4, 10), []],
  ['there are few pipelines', having(9, 9), []],
  ['a third failed late', failedAt([1, 8], [7, 4]), ['bake-earlier actions.deploy.with.phases[0].bake']],
  ['most failed early', failedAt([1, 9], [7, 4]), []],
  ['few failed', failedAt([9, 9]), []],
])('advice by the category, where %s', (_, tallies, expected) => {
  expect(told(pipeline(), stats(tallies))).toEqual(expected);
  expect(told(pipeline({}, {}, {}, { labels: { category: 'ml' } }), stats(tallies))).toEqual([]);
});

test('checks that people overrule often are to be tried on past deploys, with the numbers as the reason', () => {
  const histories = Array.from({ length: 20 }, (_, nth) => ({
    category: regular,
    row: pastRelease(nth + 1, [through(`v${nth}`, ...(nth % 2 ? [letPass('cpu')] : []))]),
  }));
  const [advice] = advise(pipeline(), stats({ histories }));
  expect(advice).toMatchObject({
    code: 'noisy-checks',
    hint: expect.stringMatching(/^in regular, people let \d+ of \d+ deploys continue in spite of a check$/),
  });
});
