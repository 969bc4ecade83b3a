import type { SweepOrder, SweepReport } from '../../domain/finder/sweepLifetime';
import type { HistoryRow } from '../../domain/views';
import { CALM, flow } from './flows';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
});
afterEach(() => world.close());

const commits = { repository: 'kv', branch: 'main' };
const commit = (revision: string) => world.control('POST', '/control/commits', { ...commits, revision });
const sweeps = (order: Partial<SweepOrder>) =>
  world.client.workflow.start('artifactSweep', {
    ...{ workflowId: 'sweep/commits', taskQueue: world.taskQueue },
    args: [{ finder: 'commits', heartbeatTimeoutMs: HOUR, ...order }],
  });

async function given(): Promise<void> {
  const build = { type: 'build' as const, inputs: ['source'], outputs: ['executable'], with: { target: '//found' } };
  const artifacts = { source: { finder: 'commits', with: commits } };
  await world.apply(flow({ build }, { pipeline: 'found', artifacts }), CALM);
}
const brought = async (): Promise<(string | null)[]> => {
  const pipeline = world.client.workflow.getHandle('pipeline/found');
  const { history } = await pipeline.query<{ history: readonly HistoryRow[] }>('pipeline');
  return history.map(({ trigger }) => trigger.key).sort();
};

async function ended(number: number): Promise<void> {
  await world.until(`release ${number} has begun`, async () => Boolean(await world.releaseStatus('found', number)));
  await world.ended('found', number);
}

test('an hour of sweeps is one workflow, with a history of one sweep', async () => {
  await given();
  await commit('c1');
  const sweep = await sweeps({ lasting: { intervalMs: MINUTE, lastingMs: HOUR } });
  await ended(1);
  await world.sleep(30 * MINUTE);
  await commit('c2');
  await ended(2);
  expect(await brought()).toEqual(['commits:source@c1', 'commits:source@c2']);
  expect((await sweep.describe()).status.name).toBe('RUNNING');
  await world.until('it is over', async () => (await sweep.describe()).status.name !== 'RUNNING', { stepMs: MINUTE });
  const { beganMs, ...counts } = (await sweep.result()) as SweepReport;
  expect(counts).toMatchObject({ calls: 1, found: 0, released: 0 });
  const { startTime, historyLength } = await sweep.describe();
  expect(beganMs - startTime.getTime()).toBeGreaterThan(58 * MINUTE);
  expect(beganMs - startTime.getTime()).toBeLessThanOrEqual(60 * MINUTE);
  expect(historyLength).toBeLessThan(15);
});

test('a sweep that was ordered by workers of before ends after one', async () => {
  await given();
  await commit('c1');
  const report = (await (await sweeps({})).result()) as SweepReport;
  expect(report).toMatchObject({ calls: 1, found: 1, released: 1 });
  await ended(1);
  expect(await brought()).toEqual(['commits:source@c1']);
});
