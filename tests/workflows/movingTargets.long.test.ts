import { evaluateCheck } from '../../domain/health/evaluate';
import type { HealthSeries, Side, TimeRange } from '../../domain/health/series';
import type { CheckEvidence, Verdict } from '../../domain/health/verdict';
import { healthCheckInFile } from '../../domain/spec/health';
import type { Series } from '../../sdk/protocol/dataSource';
import { deploying } from './deploys';
import type { kvstore } from './pipelines';
import { MINUTE, VirtualWorld } from './world';

/** Health follows the tasks that a deploy updated, whatever happens to them and to all others (Conveyor §4, moving targets). */

let world: VirtualWorld;
let heard: Heard[];
beforeEach(async () => {
  world = await VirtualWorld.open();
  heard = overhear(world);
});
afterEach(() => world.close());

/** The result of a one-job deploy for its only check, on the tasks that this many updates brought. */
interface Heard {
  readonly job: string;
  readonly updates: number;
  readonly evidence: CheckEvidence;
}

function overhear({ simulator: { app } }: VirtualWorld): Heard[] {
  const calls: Heard[] = [];
  const fetch = app.fetch;
  app.fetch = async (request, ...rest) => {
    const asked = request.url.endsWith('/runHealthChecks') ? request.clone() : undefined;
    const response = await fetch(request, ...rest);
    if (asked === undefined || !response.ok) return response;
    const { targets } = (await asked.json()) as { targets: { updatedBy: string[] } };
    const { units } = (await response.clone().json()) as { units: { id: string; checks: CheckEvidence[] }[] };
    for (const { id, checks } of units)
      calls.push(...checks.map((evidence) => ({ job: id, updates: targets.updatedBy.length, evidence })));
    return response;
  };
  return calls;
}

const lastHeard = (which: (call: Heard) => boolean): CheckEvidence => heard.filter(which).at(-1)!.evidence;

type Check = NonNullable<NonNullable<Parameters<typeof kvstore>[0]>['healthChecks']>[number];

const ERRORS = { name: 'errors', metric: 'rpc.error_ratio', transform: [{ average: '3m' }] };
const TOO_MANY: Check = { ...ERRORS, threshold: { above: 0.05 } };
const MORE_THAN_BEFORE: Check = { ...ERRORS, compare: 'before', threshold: { increase: 0.05 } };
const CPU = { name: 'cpu', metric: 'system.cpu', transform: [{ average: '3m' }] };
const MORE_THAN_OTHERS: Check = { ...CPU, compare: 'control', threshold: { increase: '10%' } };

/** A job with its own service, so that several deploys can run at the same time. */
const givenJob = (region: string, tasks: number) =>
  world.job(`kvstore-${region}`, region, tasks, { service: `kvstore-${region}` });

const deployTo = (region: string, release: number, check: Check, amount: number, bake = '10m') =>
  deploying(
    world,
    { pipeline: region, release },
    {
      config: { jobs: [`kvstore-${region}`] },
      phases: [{ scope: '*', amount, bake }],
      healthChecks: [check],
      healthInterval: LOOKS,
    },
  );

/** Often enough that some fall between a task's end and its return. */
const LOOKS = '1m';

const isBaking = ({ state }: { readonly state: string }): boolean => state === 'baking';

/** The series of every task of a job that reported within a window. */
async function seriesOf(job: string, metric: string, { start, end }: TimeRange): Promise<Series[]> {
  const query = `job=${job}&metric=${metric}&from=${start}&to=${end}`;
  return (await world.control<{ series: Series[] }>('GET', `/control/metrics?${query}`)).series;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const meanOf = (tasks: readonly HealthSeries[]): number =>
  mean(tasks.map(({ points }) => mean(points.map(([, value]) => value))));

test('each phase judges the tasks updated so far, by the names that they have by then, against those that are not', async () => {
  await givenJob('x', 12);
  const phases = [3, '50%'].map((amount) => ({ scope: '*', amount, bake: '10m' }));
  const config = { jobs: ['kvstore-x'] };
  const deploy = await deploying(
    world,
    {},
    { config, phases, healthChecks: [MORE_THAN_OTHERS], healthInterval: LOOKS },
  );
  await deploy.reaches(({ phases: [, second], state }) => second?.state === 'running' && isBaking({ state }));
  // One updated and one other task restart, and a machine dies: its task continues on another.
  await world.control('POST', '/control/jobs/kvstore-x/restart', { slots: [0, 11] });
  await world.control('POST', '/control/faults', { kind: 'machine', id: 'x-m1', downMs: 60 * MINUTE });
  expect((await deploy.ended()).outcome).toBe('succeeded');

  const namesOf = (starts: Readonly<Record<number, number>>): string[] =>
    Object.entries(starts).map(([slot, start]) => `kvstore-x/${slot}/${start}`);
  const first = [namesOf({ 0: 2, 1: 2, 2: 2 }), namesOf({ 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 9: 1, 10: 1, 11: 1 })];
  const second = [namesOf({ 0: 3, 1: 3, 2: 2, 3: 2, 4: 2, 5: 2 }), namesOf({ 6: 1, 7: 1, 8: 1, 9: 1, 10: 1, 11: 2 })];
  for (const [index, groups] of [first, second].entries()) {
    const { window, ...evidence } = lastHeard(({ updates }) => updates === index + 1);
    const series = await seriesOf('kvstore-x', CPU.metric, window);
    const [fresh, control] = groups.map((names) => series.filter(({ labels }) => names.includes(labels['task'] ?? '')));
    expect([fresh!.length, control!.length]).toEqual(groups.map((names) => names.length));
    expect(evidence).toMatchObject({
      ...{ verdict: 'healthy', tasks: fresh!.length },
      ...{ observed: expect.closeTo(meanOf(fresh!), 12), reference: expect.closeTo(meanOf(control!), 12) },
      reason: expect.stringContaining(`of the ${control!.length} tasks not yet updated`),
    });
  }
  const last = lastHeard(({ updates }) => updates === 3);
  expect(last).toMatchObject({ verdict: 'healthy', tasks: 12 });
  expect(last.reason).toContain('because no task is left that was not updated');
});

test('a control group that shrinks to nothing gives way to the time before, for those of the updated tasks that are left', async () => {
  const [good, bad] = await Promise.all(
    ['x', 'y'].map(async (region, index) => {
      await givenJob(region, 8);
      return deployTo(region, 2 + index, MORE_THAN_OTHERS, 4);
    }),
  );
  for (const deploy of [good!, bad!]) await deploy.reaches(isBaking);
  await world.sleep(4 * MINUTE);
  expect(heard.at(-1)).toMatchObject({ evidence: { verdict: 'healthy', tasks: 4 } });
  for (const job of ['kvstore-x', 'kvstore-y']) await world.control('PATCH', `/control/jobs/${job}`, { tasks: 3 });
  await world.describeVersion('kv:3', { cpuFactor: 1.3 });
  expect((await good!.ended()).outcome).toBe('succeeded');
  expect((await bad!.ended()).outcome).toBe('reverted');
  for (const [job, verdict] of [
    ['kvstore-x', 'healthy'],
    ['kvstore-y', 'unhealthy'],
  ]) {
    const last = lastHeard((call) => call.job === job && call.updates === 1);
    expect(last).toMatchObject({ verdict, tasks: 3 });
    expect(last.reason).toContain('because no task is left that was not updated');
  }
});

test('an updated task that does not come back is missed: the phase waits for a person, however well the others are', async () => {
  await givenJob('x', 20);
  const deploy = await deployTo('x', 2, TOO_MANY, 10);
  await deploy.reaches(isBaking);
  await world.describeVersion('kv:2', { crashOnStart: true });
  await world.control('POST', '/control/jobs/kvstore-x/restart', { slots: [0] });
  const { paused, timeline, phases } = await deploy.reaches((status) => status.paused !== null);
  const reason = expect.stringContaining('1 of the 10 updated tasks reported nothing') as string;
  expect(paused).toMatchObject({ by: 'health', reason });
  expect(timeline.map(({ kind }) => kind)).toContain('bake-extended');
  expect(phases[0]?.state).toBe('running');
  await world.describeVersion('kv:2', {});
  await world.sleep(10 * MINUTE);
  await deploy.command('resume');
  expect((await deploy.ended()).outcome).toBe('succeeded');
});

/** The alarm of a whole-job check, as other tools have it: all tasks on average, compared with the time before the deploy. */
async function wholeJob(job: string, window: TimeRange, deployedAt: number): Promise<CheckEvidence> {
  const baseline = { start: deployedAt - 3 * MINUTE, end: deployedAt };
  const [during, before] = await Promise.all(
    [window, baseline].map(async (time): Promise<Side> => {
      const series = await seriesOf(job, ERRORS.metric, time);
      return { tasks: series.length, series };
    }),
  );
  const check = healthCheckInFile.parse(MORE_THAN_BEFORE);
  return evaluateCheck({ check, fresh: during!, control: { tasks: 0, series: [] }, before: before!, window, baseline });
}

test('a fault in tasks that were not updated neither fails a phase nor passes one, as an alarm of the whole job does', async () => {
  for (const region of ['x', 'y', 'z']) await givenJob(region, 20);
  await world.describeVersion('kv:3', { errorRatio: 0.2 });
  const deployedAt = await world.now();
  const [good, bad, late] = await Promise.all([
    deployTo('x', 2, MORE_THAN_BEFORE, 2, '40m'),
    deployTo('y', 3, MORE_THAN_BEFORE, 2, '40m'),
    deployTo('z', 4, MORE_THAN_BEFORE, 2, '40m'),
  ]);
  expect((await bad.ended({ stepMs: MINUTE })).outcome).toBe('reverted');

  // From now on all others fail, and later another bad version as well, though less so.
  await world.describeVersion('kv:1', { errorRatio: 0.3 });
  await world.sleep(5 * MINUTE);
  expect([await good.status(), await late.status()]).toMatchObject([{ state: 'baking' }, { state: 'baking' }]);
  await world.describeVersion('kv:4', { errorRatio: 0.2 });
  expect((await late.ended()).outcome).toBe('reverted');
  await good.reaches(({ phases }) => phases[0]?.state === 'succeeded');

  const last = (job: string, verdict: Verdict) =>
    lastHeard((call) => call.job === job && call.updates === 1 && call.evidence.verdict === verdict);
  const numbers = ({ verdict, observed, reference, tasks }: CheckEvidence) => [verdict, observed, reference, tasks];
  const about = (value: number): unknown => expect.closeTo(value, value < 0.1 ? 2 : 1);
  const [passed, caught] = [last('kvstore-x', 'healthy'), last('kvstore-y', 'unhealthy')];
  expect(numbers(passed)).toEqual(['healthy', about(0.001), about(0.001), 2]);
  expect(numbers(await wholeJob('kvstore-x', passed.window, deployedAt))).toEqual([
    'unhealthy',
    about(0.271),
    about(0.001),
    20,
  ]);
  expect(numbers(caught)).toEqual(['unhealthy', about(0.2), about(0.001), 2]);
  expect(numbers(await wholeJob('kvstore-y', caught.window, deployedAt))).toEqual([
    'healthy',
    about(0.021),
    about(0.001),
    20,
  ]);
  const { observed } = last('kvstore-z', 'unhealthy');
  expect([observed! > 0.05, observed! < 0.21]).toEqual([true, true]);
});
