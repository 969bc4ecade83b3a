import type { Artifact } from '../../domain/artifact';
import type { BugRecords } from '../../features/bugs/domain/bug';
import { workflowIds } from '../../domain/ids';
import type { Verb } from '../../domain/verbs';
import { actionOf, CALM, deployAction, endsOf, flow, untilAction, type Actions } from './flows';
import { executable, HOUR, VirtualWorld } from './world';

/** Events between the last look at bugs and approvals and the start are not lost, however long that look takes. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
  await world.control('POST', '/control/targets', { target: '//kv:server', deps: ['//kv/log'] });
  await world.control('POST', '/control/targets', { target: '//kv/log', deps: [] });
});
afterEach(() => world.close());

const built = (revision: number): Artifact => ({
  ...executable(`kv:${revision}`),
  builtFrom: { repository: 'mono', revision: String(revision), target: '//kv:server' },
});
const release = (revision: number) => world.start('kvstore', { artifacts: [built(revision)] });
const versions = async () => Object.fromEntries((await world.jobs()).map((job) => [job.name, job.versions]));
const onAll = (version: string) => ({ 'kvstore-x': { [version]: 6 }, 'kvstore-y': { [version]: 6 } });

const canary: Actions[string] = {
  ...{ type: 'canary', inputs: ['executable'] },
  with: { pushType: 'twine', config: { jobs: ['kvstore-x'] }, amount: 2, bake: '10m' },
};
const canaryRuns = () => world.client.workflow.getHandle(workflowIds.deploy('kvstore', 1, 'canary', 1)).describe();

/** A bug in force makes every look query the graph. */
async function withBug(): Promise<void> {
  const handle = await world.client.workflow.start('bugs', {
    ...{ workflowId: 'bugs', taskQueue: world.taskQueue },
    args: [{ heartbeatTimeoutMs: HOUR }],
  });
  const bug = { target: '//lib:other', from: '3', to: null, reason: 'it loses replies', actor: 'user:bob' };
  await handle.executeUpdate<unknown, [object]>('report-bug', { args: [bug] });
  const isSearched = async () => (await handle.query<BugRecords>('bugs')).bugs.every(({ search }) => search !== null);
  await world.until('it was searched for', isSearched);
}

/** @returns a function after which it answers again */
async function withoutGraph(): Promise<() => Promise<unknown>> {
  await withBug();
  const fault = { kind: 'http', service: 'dependency-graph', mode: 'down' };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
  return () => world.control('DELETE', `/control/faults/${id}`);
}

const asks = (name: string) =>
  untilAction(
    world,
    1,
    name,
    ({ state, blockedBy }) => state === 'blocked' && /whether it contains a bug is unknown/.test(`${blockedBy}`),
  );

/** The last look comes after the one that lets the release wait for its turn: it lasts until `meanwhile` has happened. */
function duringLastLook(meanwhile: () => Promise<unknown>): void {
  const { app } = world.simulator;
  const through = app.fetch.bind(app);
  let looks = 0;
  app.fetch = async (request, ...rest) => {
    if (request.url.includes('/dependency-graph/')) looks += 1;
    if (looks === 2) await meanwhile().then(() => (app.fetch = through));
    return through(request, ...rest);
  };
}

/** As `world.command`, without waiting for a standstill. */
const commandNow = (workflowId: string, verb: Verb) =>
  world.client.workflow
    .getHandle(workflowId)
    .executeUpdate<unknown, [object]>(verb, { args: [{ actor: 'user:alice', reason: 'a test says so' }] });

const STOPS = [
  ['its pipeline is frozen', 'pipeline/kvstore', 'freeze', 'unfreeze'],
  ['its release is paused', 'release/kvstore/1', 'pause', 'resume'],
  ['its pipeline is held', 'pipeline/kvstore', 'hold', 'unhold'],
] as const;

test.each(STOPS)('a deploy that waits for the graph while %s begins only after that', async (_, id, stop, goOn) => {
  await world.apply(flow({ deploy: deployAction('5m') }), CALM);
  const answers = await withoutGraph();
  await release(3);
  await asks('deploy');
  await world.command(id, stop);
  await answers();
  await world.sleep(2 * HOUR);
  expect(await versions()).toEqual(onAll('kv:1'));
  await world.command(id, goOn);
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
  expect(await versions()).toEqual(onAll('kv:3'));
});

test('a deploy whose release is paused during its last look begins only after that', async () => {
  await world.apply(flow({ deploy: deployAction('5m') }), CALM);
  await withBug();
  duringLastLook(() => commandNow('release/kvstore/1', 'pause'));
  await release(3);
  await untilAction(world, 1, 'deploy', ({ blockedBy }) => blockedBy === 'the release is paused', { withinMs: HOUR });
  await world.sleep(HOUR);
  expect(await versions()).toEqual(onAll('kv:1'));
  await world.command('release/kvstore/1', 'resume');
  await world.ended('kvstore', 1);
  expect(await versions()).toEqual(onAll('kv:3'));
});

test('releases that deploy one after the other keep their order though the graph was away', async () => {
  await world.apply(flow({ deploy: deployAction('5m') }, { releases: { supersede: 'never' } }), CALM);
  const answers = await withoutGraph();
  await release(3);
  await asks('deploy');
  await world.start('kvstore', { artifacts: [executable('kv:4')] });
  await untilAction(world, 2, 'deploy', ({ blockedBy }) => blockedBy === 'release 1 deploys');
  await answers();
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2])).toEqual(['succeeded', 'succeeded']);
  expect(await versions()).toEqual(onAll('kv:4'));
});

test('a rollback goes ahead of a deploy that waits with its turn in a frozen pipeline', async () => {
  await world.apply(flow({ deploy: deployAction('5m') }), CALM);
  for (const n of [2, 3]) {
    await world.release('kvstore', `kv:${n}`);
    await world.ended('kvstore', n - 1);
  }
  const answers = await withoutGraph();
  await release(4);
  await untilAction(world, 3, 'deploy', ({ blockedBy }) => /whether it contains a bug is unknown/.test(`${blockedBy}`));
  await world.command('pipeline/kvstore', 'freeze');
  await answers();
  await world.sleep(HOUR);
  await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'slow' });
  await world.ended('kvstore', 4, { withinMs: HOUR });
  await world.command('pipeline/kvstore', 'unfreeze');
  await world.sleep(HOUR);
  expect(await endsOf(world, [3, 4])).toEqual(['cancelled (preempted)', 'succeeded']);
  expect(await versions()).toEqual(onAll('kv:2'));
});

test.each(['cancel', 'revert'] as const)('a canary that waits for the graph never begins after a %s', async (verb) => {
  await world.apply(flow({ canary }), CALM);
  await withoutGraph();
  await release(3);
  await asks('canary');
  await world.command('release/kvstore/1', verb);
  await world.ended('kvstore', 1);
  expect(actionOf(await world.releaseStatus('kvstore', 1), 'canary')?.state).toBe('cancelled');
  await expect(canaryRuns()).rejects.toThrow(/not found/i);
  expect(await versions()).toEqual(onAll('kv:1'));
});

test.each(STOPS.slice(0, 2))(
  'a canary that waits for the graph while %s begins only after that',
  async (_, id, stop, goOn) => {
    await world.apply(flow({ canary }), CALM);
    const answers = await withoutGraph();
    await release(3);
    await asks('canary');
    await world.command(id, stop);
    await answers();
    await world.sleep(2 * HOUR);
    await expect(canaryRuns()).rejects.toThrow(/not found/i);
    await world.command(id, goOn);
    await world.ended('kvstore', 1);
    expect(await endsOf(world, [1])).toEqual(['succeeded']);
    expect(await canaryRuns()).toMatchObject({ type: 'deploy' });
  },
);

test('a canary whose release is cancelled during its last look never begins', async () => {
  await world.apply(flow({ canary }), CALM);
  await withBug();
  duringLastLook(() => commandNow('release/kvstore/1', 'cancel'));
  await release(3);
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['cancelled (operator)']);
  await expect(canaryRuns()).rejects.toThrow(/not found/i);
});
