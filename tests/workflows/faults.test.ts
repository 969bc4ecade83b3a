import type { WorkflowHandle } from '@temporalio/client';
import type { LedgerEntry } from '../../simulator/ledger';
import { PUSH_TYPE_METHODS } from '../chaos/trouble';
import { deploying, type LoneDeploy } from './deploys';
import { flow } from './flows';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** What goes wrong with the answers of a service, at each of its methods. Garbled ones count as refusals (refusals.test.ts). */
const MODES = {
  'nothing goes wrong': null,
  'replies are lost': { mode: 'lose-reply', count: 2 },
  'calls arrive twice': { mode: 'duplicate' },
  'calls fail': { mode: 'error', count: 3 },
  'answers are late': { mode: 'delay', delayMs: 5_000 },
} as const;
type Mode = keyof typeof MODES;

const METHODS = {
  twine: PUSH_TYPE_METHODS,
  build: ['startRun', 'getRunProgress'],
  commits: ['getArtifacts'],
} as const;
type Service = keyof typeof METHODS;

let world: VirtualWorld;
/** `twine executeUpdates` …: what was called since the trouble began. */
const called = new Set<string>();

/** Sees every call on its way to the simulated world. */
function observe(): void {
  const { app } = world.simulator;
  const inner = app.fetch.bind(app);
  app.fetch = (request, ...rest) => {
    called.add(new URL(request.url).pathname.split('/').slice(-2).join(' '));
    return inner(request, ...rest);
  };
}

async function trouble(service: Service, mode: Mode, methods: readonly string[] = METHODS[service]): Promise<void> {
  const fault = MODES[mode];
  called.clear();
  if (fault === null) return;
  for (const method of methods)
    await world.control('POST', '/control/faults', { kind: 'http', service, method, ...fault });
}

const ledger = (service: Service): LedgerEntry[] =>
  world.simulator.simulation.state.ledger.filter((entry) => entry.service === service && entry.effect);
const effectsOf = (service: Service, method: string): string[] =>
  ledger(service).flatMap((entry) => (entry.method === method ? [entry.key] : []));

/** How often each task of a job was started, the first time included. */
const starts = (job: string): number[] => {
  const { fleet } = world.simulator.simulation;
  const { size = 0, tasks } = fleet.jobs.get(job) ?? {};
  return [...(tasks?.starts.slice(0, size) ?? [])];
};

const endOf = async (deploy: LoneDeploy) => deploy.ended({ stepMs: 2 * MINUTE });

const jobs = async () =>
  Object.fromEntries((await world.jobs()).map(({ name, versions, jobVersion }) => [name, { versions, jobVersion }]));

describe.each(Object.keys(MODES) as Mode[])('when %s', (mode) => {
  const CHECKED = { healthInterval: '60s', completion: { bake: '2m' } };

  beforeAll(async () => {
    world = await VirtualWorld.open();
    const timings = { fetchMs: MINUTE, stopMs: 1_000, startMs: 2_000 };
    await world.job('kvstore-x', 'x', 6, { nSmall: 1, timings });
    await world.job('kvstore-y', 'y', 3, { nSmall: 3 });
    observe();
  });
  afterAll(() => world.close());

  test('a deploy that is paused, resumed and loses a phase updates every task once', async () => {
    await trouble('twine', mode);
    const phases = [{ name: 'most', scope: 'region:x', amount: 5, bake: '2m' }];
    const deploy = await deploying(world, {}, { phases, ...CHECKED });
    const isUpdating = async () => ((await jobs())['kvstore-x']?.versions['kv:2'] ?? 0) > 0;
    await world.until('updates are under way', isUpdating, { stepMs: 20_000, withinMs: 24 * HOUR });
    await deploy.command('pause');
    await world.sleep(3 * MINUTE);
    await deploy.command('resume');
    await deploy.reaches(({ paused }) => paused === null || paused.by !== 'operator', { withinMs: 24 * HOUR });
    await deploy.command('skip-phase').catch(() => undefined);
    expect(await endOf(deploy)).toMatchObject({ outcome: 'succeeded', classification: 'success' });
    expect(await jobs()).toEqual({
      'kvstore-x': { versions: { 'kv:2': 6 }, jobVersion: 'kv:2' },
      'kvstore-y': { versions: { 'kv:2': 3 }, jobVersion: 'kv:2' },
    });
    expect([...starts('kvstore-x'), ...starts('kvstore-y')]).toEqual(Array.from({ length: 9 }, () => 2));
    expect([...called]).toEqual(expect.arrayContaining(METHODS.twine.map((method) => `twine ${method}`)));
    expect(effectsOf('twine', 'executeUpdates')).toHaveLength(2);
  });

  test('a bad version is reverted, and no task is restarted more often than that takes', async () => {
    const methods = ['needsPush', 'executeUpdates', 'trackUpdates', 'cancelUpdates', 'runHealthChecks'];
    await world.describeVersion('kv:3', { errorRatio: 0.3, afterMs: 2 * MINUTE });
    await trouble('twine', mode, methods);
    const phases = [{ name: 'some', scope: '*', amount: 2, bake: '10m' }];
    const deploy = await deploying(world, { release: 3 }, { phases, ...CHECKED });
    expect(await endOf(deploy)).toMatchObject({ outcome: 'reverted', classification: 'good-failure' });
    expect(await jobs()).toEqual({
      'kvstore-x': { versions: { 'kv:2': 6 }, jobVersion: 'kv:2' },
      'kvstore-y': { versions: { 'kv:2': 3 }, jobVersion: 'kv:2' },
    });
    expect([...starts('kvstore-x'), ...starts('kvstore-y')].sort()).toEqual([2, 2, 2, 2, 2, 4, 4, 4, 4]);
  });

  test('a run of an action service is begun once, and its end is heard of', async () => {
    const spec = flow(
      { build: { type: 'build', inputs: ['source'], outputs: ['executable'], with: {} } },
      { pipeline: 'builds', artifacts: { source: { finder: 'manual' } } },
    );
    await world.apply(spec);
    const source = { name: 'source', kind: 'source', metadata: {} };
    await trouble('build', mode);
    await world.start('builds', { artifacts: [{ ...source, version: '1' }] });
    const first = await world.ended('builds', 1, { stepMs: 10_000 });
    expect(first.state).toBe('succeeded');
    expect(effectsOf('build', 'startRun')).toHaveLength(1);
  });

  test('what a finder found makes one release', async () => {
    const commits = { repository: 'kv', branch: 'main' };
    await world.apply(
      flow(
        { tested: { type: 'custom', inputs: ['source'], with: { service: 'slow' } } },
        { pipeline: 'found', artifacts: { source: { finder: 'commits', with: commits } } },
      ),
    );
    await world.control('POST', '/control/commits', { ...commits, revision: 'c1' });
    await trouble('commits', mode);
    const sweep = (nth: number): Promise<WorkflowHandle> =>
      world.client.workflow.start('artifactSweep', {
        workflowId: `sweep/${nth}`,
        taskQueue: world.taskQueue,
        args: [{ finder: 'commits', heartbeatTimeoutMs: HOUR }],
      });
    // As its Schedule does: another sweep after each that ended, however it ended.
    for (const nth of [1, 2, 3]) {
      const { workflowId } = await sweep(nth);
      const handle = world.client.workflow.getHandle(workflowId);
      const isOver = async () => (await handle.describe()).status.name !== 'RUNNING';
      await world.until('the sweep is over', isOver, { stepMs: MINUTE });
    }
    expect(await world.ended('found', 1)).toMatchObject({ state: 'succeeded' });
    await expect(world.releaseStatus('found', 2)).rejects.toThrow('not found');
    expect(called.has('commits getArtifacts')).toBe(true);
  });
});
