import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { actionOf, CALM, flow, slowAction, untilAction } from './flows';
import { kvstore } from './pipelines';
import { MINUTE, VirtualWorld } from './world';

/** Acknowledged commands and admitted releases still hold when it matters. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
});
afterEach(() => world.close());

const jobs = async (more: object = {}): Promise<void> => {
  await world.job('kvstore-x', 'x', 6, more);
  await world.job('kvstore-y', 'y', 6, more);
};
const allRun = async (version: string) => {
  for (const job of await world.jobs()) expect(job.versions).toEqual({ [version]: 6 });
};
const broken = async (method: string, how: object) => {
  const fault = { kind: 'http', service: 'twine', method, ...how };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
  return () => world.control('DELETE', `/control/faults/${id}`);
};

test('a release that Temporal cancelled still hands a revert on to its deploys', async () => {
  await jobs({ timings: { fetchMs: 10 * MINUTE, stopMs: 1_000, startMs: 2_000 } });
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'updating');
  // A cancelled deploy cannot end before the updates that it gives up.
  const back = await broken('cancelUpdates', { mode: 'error' });
  await world.settled();
  await world.client.workflow.getHandle('release/kvstore/1').cancel();
  await world.sleep(MINUTE);
  await world.command('release/kvstore/1', 'revert');
  await world.sleep(MINUTE);
  await back();
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'reverted' });
  await allRun('kv:1');
});

test('a version that became known-bad while its deploy waited for an exclusion group is not deployed', async () => {
  await jobs();
  const rig = { rig: { scope: 'global' } } as const;
  await world.apply(flow({ test: slowAction(600, { mutex: ['rig'] }) }, { pipeline: 'other', mutex: rig }), CALM);
  await world.release('other', 'kv:1');
  await world.until('others hold the rig', () => Promise.resolve(world.slow.runs.length === 1));
  const one = (job: string, more = {}) => {
    const { actions } = kvstore({ config: { jobs: [job] }, phases: [] });
    return { ...actions['deploy']!, ...more };
  };
  await world.apply(flow({ east: one('kvstore-x'), west: one('kvstore-y', { mutex: ['rig'] }) }, { mutex: rig }), CALM);
  await world.release('kvstore', 'kv:2');
  await world.until('east bakes', async () => (await world.deployStatus('kvstore', 1, 'east')).state === 'baking');
  await world.command('deploy/kvstore/1/east/1', 'revert');
  await world.until('east is reverted', async () => (await world.deployStatus('kvstore', 1, 'east')).outcome !== null);
  await world.command('release/other/1', 'cancel');
  const release = await world.ended('kvstore', 1);
  expect(actionOf(release, 'west')).toMatchObject({ state: 'cancelled', deploy: null });
  await allRun('kv:1');
});

describe('a deploy that has succeeded when the revert of its release reaches it', () => {
  beforeEach(async () => {
    await world.close();
    const { code } = await bundleWorkflowCode({
      workflowsPath: path.join(__dirname, 'luckyDeploy.ts'),
      logger: SILENT,
    });
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'lucky-')), 'bundle.js');
    writeFileSync(file, code);
    world = await VirtualWorld.open(1, file);
  });
  const SILENT = new DefaultLogger('ERROR');

  test('is rolled back, as the revert was acknowledged', async () => {
    await jobs();
    await world.apply(kvstore());
    await world.release('kvstore', 'kv:2');
    await world.ended('kvstore', 1);
    await world.release('kvstore', 'kv:3');
    await untilAction(world, 2, 'deploy', ({ deploy }) => deploy !== null);
    await world.command('release/kvstore/2', 'revert', { reason: 'it loses writes' });
    await world.ended('kvstore', 2);
    await world.until('a rollback begins', async () => (await world.pipelineStatus('kvstore')).active.includes(3));
    expect(await world.releaseStatus('kvstore', 3)).toMatchObject({
      trigger: { kind: 'rollback', of: 2, actor: 'user:alice' },
      artifacts: [{ version: 'kv:2' }],
    });
  });
});
