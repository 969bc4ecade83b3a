import { computeStatistics } from '../../domain/health/statistics';
import { findTruths } from '../../domain/health/truth';
import type { PipelineState } from '../../domain/pipeline/state';
import { CALM } from './flows';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  await world.job('kvstore-x', 'x', 6);
});
afterEach(() => world.close());

const CHECKS = ['errors', 'latency'] as const;
const PIPELINE = kvstore(
  {
    config: { jobs: ['kvstore-x'] },
    phases: [],
    completion: { bake: '5m' },
    onUnhealthy: 'pause',
    healthChecks: CHECKS.map((name) => ({
      name,
      metric: name === 'errors' ? 'rpc.error_ratio' : 'rpc.latency',
      lookback: '3m',
      threshold: { above: name === 'errors' ? 0.05 : 1_000_000 },
    })),
  },
  { releases: { onRevert: 'continue' } },
);

/** Lets time pass until health has paused the deploy of a release. */
async function pausedByHealth(release: number): Promise<string> {
  await world.reaches('kvstore', release, ({ paused }) => paused?.by === 'health');
  return `deploy/kvstore/${release}/deploy/1`;
}

async function comesThrough(release: number): Promise<void> {
  await world.ended('kvstore', release, { stepMs: 5 * MINUTE });
  expect((await world.deployStatus('kvstore', release)).outcome).toBe('succeeded');
}

test('the statistics record and count what people let pass, roll back and patch', async () => {
  await world.apply(PIPELINE, CALM);
  // One of two skipped checks was unhealthy.
  await world.describeVersion('kv:2', { errorRatio: 0.2 });
  await world.release('kvstore', 'kv:2');
  const first = await pausedByHealth(1);
  for (const check of CHECKS)
    await world.command(first, 'skip-health-check', { check, for: 'deploy', reason: 'a load test' });
  await world.command(first, 'resume');
  await comesThrough(1);
  await world.describeVersion('kv:2', {});
  await world.sleep(10 * MINUTE);
  // A person waits until the errors are gone, and resumes.
  await world.describeVersion('kv:3', { errorRatio: 0.2 });
  await world.release('kvstore', 'kv:3');
  const second = await pausedByHealth(2);
  await world.describeVersion('kv:3', {});
  await world.sleep(10 * MINUTE);
  await world.command(second, 'resume');
  await comesThrough(2);
  // Health finds nothing wrong with it, and a person undoes it.
  await world.release('kvstore', 'kv:4');
  await comesThrough(3);
  await world.rollBack('kvstore', 3, { actor: 'user:alice', reason: 'it lost data' });
  await comesThrough(4);
  // The same, but a person patches it.
  await world.release('kvstore', 'kv:5');
  await comesThrough(5);
  await world.push('kvstore', 'kv:6', { skipBake: true });
  await world.ended('kvstore', 6, { withinMs: HOUR });
  const { history } = await world.pipeline('kvstore').query<PipelineState>('pipeline');
  expect(Object.fromEntries([...findTruths(history)].map(([id, { kind, why }]) => [id, `${kind}: ${why}`]))).toEqual({
    'kvstore/1/deploy': 'good: succeeded after user:alice let errors pass',
    'kvstore/2/deploy': 'good: succeeded after user:alice let errors pass',
    'kvstore/3/deploy': 'bad: rolled back by user:alice in kvstore/4',
    'kvstore/4/deploy': 'unknown: a rollback, which brings back what ran before',
    'kvstore/5/deploy': 'bad: replaced by the emergency kvstore/6 of user:alice',
    'kvstore/6/deploy': 'good: succeeded',
  });
  expect(history.flatMap(({ deploys }) => deploys.flatMap(({ overridden = [] }) => overridden))).toMatchObject([
    { check: 'errors', actor: 'user:alice', reason: 'a load test' },
    { check: 'errors', actor: 'user:alice', reason: 'a test says so' },
  ]);
  expect(computeStatistics([{ pipeline: 'kvstore', labels: {}, history }]).pipelines).toMatchObject([
    { falsePositives: { count: 2, of: 5 }, falseNegatives: { count: 2, of: 5 } },
  ]);
});
