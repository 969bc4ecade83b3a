import type { Artifact } from '../../domain/artifact';
import { isInForce, type Bug, type BugRecords } from '../../features/bugs/domain/bug';
import { BUG_LIMITS } from '../../domain/limits';
import { actionOf, CALM, deployAction, endsOf, flow, slowAction, untilAction } from './flows';
import { fullBugRecords, RPC_ADVISORY } from '../builders/bugs';
import { kvstore } from './pipelines';
import { isContinued, shortHistories } from './shortHistories';
import { executable, HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
  await world.control('POST', '/control/targets', { target: '//kv:server', deps: ['//kv/log'] });
  await world.control('POST', '/control/targets', { target: '//kv/log', deps: ['//lib:rpc'] });
  await world.control('POST', '/control/targets', { target: '//lib:rpc', deps: [] });
});
afterEach(() => world.close());

const built = (revision: number, target = '//kv:server'): Artifact => ({
  ...executable(`kv:${revision}`),
  builtFrom: { repository: 'mono', revision: String(revision), target },
});
const release = (revision: number, target?: string, pipeline = 'kvstore') =>
  world.start(pipeline, {
    artifacts: [built(revision, target)],
    trigger: { kind: 'manual', actor: 'user:alice', key: null },
  });

const handle = () => world.client.workflow.getHandle('bugs');
const known = async () => (await handle().query<BugRecords>('bugs')).bugs;

/** The workflow exists from the first report on. */
async function report(more: object = {}): Promise<Bug> {
  await world.client.workflow.start('bugs', {
    ...{ workflowId: 'bugs', taskQueue: world.taskQueue, workflowIdConflictPolicy: 'USE_EXISTING' },
    args: [{ heartbeatTimeoutMs: HOUR }],
  });
  const about = { target: '//lib:rpc', from: '3', to: null, reason: 'it loses replies', actor: 'user:bob' };
  return handle().executeUpdate<Bug, [object]>('report-bug', { args: [{ ...about, ...more }] });
}
const close = (to: string | null) =>
  handle().executeUpdate<Bug, [object]>('close-bug', {
    args: [{ id: 'bug/1', to, reason: 'it is over', actor: 'user:bob' }],
  });
const isSearched = async () => (await known()).every(({ search }) => search !== null);

test('releases that wait with a bug end, and say by which bug over which dependencies; others deploy', async () => {
  await world.apply(flow({ test: slowAction(60), deploy: deployAction('5m', { needs: ['test'] }) }), CALM);
  await release(3);
  await untilAction(world, 1, 'test', ({ state }) => state === 'running');
  const bug = await report();
  expect(bug).toMatchObject({ id: 'bug/1', closed: null });
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['cancelled (bad-package)']);
  const { commands } = await world.releaseStatus('kvstore', 1);
  expect(commands).toMatchObject([
    {
      ...{ verb: 'cancel', actor: 'service:conveyor', accepted: true },
      reason:
        'executable@kv:3 contains bug/1 in //lib:rpc (from 3, no fix yet): it loses replies; by //kv:server > //kv/log > //lib:rpc',
    },
  ]);
  await world.until('it was searched for', isSearched);
  const [{ search } = {} as Bug] = await known();
  expect(search).toMatchObject({ problem: null, affected: 1, exposed: 0, releases: [{ release: 'kvstore/1' }] });

  await release(2);
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [2])).toEqual(['succeeded']);
});

test('a later build that has the bug is refused right before it would deploy, until the fix', async () => {
  await world.apply(flow({ deploy: deployAction('5m') }), CALM);
  await report();
  await world.until('all searches are over', async () => (await handle().query<BugRecords>('bugs')).due.length === 0);
  await release(3);
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['cancelled (bad-package)']);
  const { actions } = await world.releaseStatus('kvstore', 1);
  expect(actions[0]?.message).toMatch(/^executable@kv:3 contains bug\/1 in \/\/lib:rpc/);
  for (const { versions } of await world.jobs()) expect(versions).toEqual({ 'kv:1': 6 });

  await close('5');
  await release(4);
  await world.ended('kvstore', 2);
  await release(5);
  await world.ended('kvstore', 3);
  expect(await endsOf(world, [2, 3])).toEqual(['cancelled (bad-package)', 'succeeded']);
});

test('a release that is created in the same moment as the report never deploys the bug', async () => {
  const names = Array.from({ length: 5 }, (_, n) => `store-${n}`);
  for (const pipeline of names) await world.apply(flow({ deploy: deployAction('5m') }, { pipeline }), CALM);
  await Promise.all([report(), ...names.map((name) => release(3, undefined, name))]);
  for (const name of names) await world.ended(name, 1);
  const ends = await Promise.all(names.map(async (name) => (await endsOf(world, [1], name))[0]));
  // One may have begun to deploy just before: it pauses, and is not among these.
  expect(ends.filter((end) => end === 'succeeded')).toEqual([]);
});

test('a bug that was none refuses nothing any more', async () => {
  await world.apply(flow({ deploy: deployAction('5m') }), CALM);
  await report();
  await close(null);
  await release(3);
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
});

test('a deploy that runs with the bug pauses, and a person lets it continue or takes it back', async () => {
  await world.apply(kvstore({ healthInterval: '10m' }), CALM);
  await release(3);
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  await report();
  const { paused } = await world.reaches('kvstore', 1, (status) => status.paused !== null);
  expect(paused).toMatchObject({ by: 'operator', actor: 'service:conveyor' });
  expect(paused?.reason).toMatch(/contains bug\/1 in \/\/lib:rpc/);
  await world.command('release/kvstore/1', 'revert');
  await world.ended('kvstore', 1);
  for (const { versions } of await world.jobs()) expect(versions).toEqual({ 'kv:1': 6 });
});

test('a rollback to a version with the bug goes through, and what runs it is listed with its owners', async () => {
  await world.apply(flow({ deploy: deployAction('5m') }), CALM);
  for (const n of [3, 4]) {
    await release(n);
    await world.ended('kvstore', n - 2);
  }
  await report();
  await world.until('it was searched for', isSearched);
  const [{ search } = {} as Bug] = await known();
  expect(search?.deployed).toMatchObject([{ release: 'kvstore/2', owners: ['user:alice'] }]);
  await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'slow' });
  await world.ended('kvstore', 3);
  expect(await endsOf(world, [3])).toEqual(['succeeded']);
  for (const { versions } of await world.jobs()) expect(versions).toEqual({ 'kv:3': 6 });
});

test('while the graph does not answer nothing with a bug in force deploys, and waiting releases can be cancelled', async () => {
  await world.apply(flow({ deploy: deployAction('5m') }), CALM);
  await report({ target: '//lib:other' });
  await world.until('it was searched for', isSearched);
  const fault = { kind: 'http', service: 'dependency-graph', mode: 'down' };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
  const deployOfFirst = async () => actionOf(await world.releaseStatus('kvstore', 1), 'deploy');
  await release(3);
  // A release that already has its turn is not superseded by the next.
  await world.until('it waits for the graph', async () => (await deployOfFirst())?.state === 'blocked');
  await release(4);
  await world.sleep(10 * MINUTE);
  const blocked = await deployOfFirst();
  expect(blocked).toMatchObject({
    state: 'blocked',
    blockedBy: expect.stringMatching(/whether it contains a bug is unknown/),
  });
  await world.command('release/kvstore/1', 'cancel');
  await world.control('DELETE', `/control/faults/${id}`);
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2])).toEqual(['cancelled (operator)', 'succeeded']);
});

describe('while the graph does not answer', () => {
  const dueOf = async (id: string) => (await handle().query<BugRecords>('bugs')).due.filter((one) => one.id === id);
  const isSearchedFor = async (id: string) => (await known()).find((bug) => bug.id === id)?.search != null;
  let faultId: string;
  beforeEach(async () => {
    const fault = { kind: 'http', service: 'dependency-graph', mode: 'down' };
    ({ id: faultId } = await world.control<{ id: string }>('POST', '/control/faults', fault));
    await report();
    await world.sleep(MINUTE);
  });

  test('bugs that others can answer for are searched for, and its own once it is back', async () => {
    await report({ target: RPC_ADVISORY.id, from: '0', advisory: RPC_ADVISORY });
    await world.until('the advisory was searched for', () => isSearchedFor('bug/2'), { withinMs: 10 * MINUTE });
    expect(await isSearchedFor('bug/1')).toBe(false);
    await world.control('DELETE', `/control/faults/${faultId}`);
    await world.until('all searches are over', async () => (await dueOf('bug/1')).length === 0, {
      withinMs: 10 * MINUTE,
    });
    expect(await isSearchedFor('bug/1')).toBe(true);
  });

  test('a bug that is closed keeps no other from being searched for', async () => {
    await close(null);
    await report({ target: RPC_ADVISORY.id, from: '0', advisory: RPC_ADVISORY });
    await world.until('the advisory was searched for', () => isSearchedFor('bug/2'), { withinMs: 10 * MINUTE });
    expect(await dueOf('bug/1')).toEqual([]);
  });
});

describe('components that are known by their names alone are counted where a release', () => {
  const NAMED_ONLY = '2 components of SBOMs without a readable package URL, compared by name at most';

  /** Releases a program with this version of rpc, and with two components of which an SBOM gives only the names. */
  async function releaseWithSbom(rpc: string): Promise<void> {
    const components = [{ name: 'rpc', version: rpc, purl: `pkg:npm/rpc@${rpc}` }, { name: 'base' }, { name: 'tools' }];
    const { app } = world.simulator;
    const through = app.fetch;
    app.fetch = (request, ...rest) =>
      request.url.includes('/boms/')
        ? Response.json({ bomFormat: 'CycloneDX', components })
        : through.call(app, request, ...rest);
    await world.apply(flow({ deploy: deployAction('5m') }), CALM);
    await report({ target: RPC_ADVISORY.id, from: '0', advisory: RPC_ADVISORY });
    const artifacts = [{ ...executable('kv:3'), metadata: { sbom: 'kv.json' } }];
    await world.start('kvstore', { artifacts, trigger: { kind: 'manual', actor: 'user:alice', key: null } });
    await world.ended('kvstore', 1);
  }

  test('is let go: nobody knows that they are not the package of the advisory', async () => {
    await releaseWithSbom('1.4.0');
    const { state, timeline } = await world.releaseStatus('kvstore', 1);
    expect(state).toBe('succeeded');
    expect(timeline.map(({ text }) => text)).toContain(`it contains no bug in force as far as is known; ${NAMED_ONLY}`);
  });

  test('is refused for another component', async () => {
    await releaseWithSbom('1.3.0');
    const { actions } = await world.releaseStatus('kvstore', 1);
    expect(await endsOf(world, [1])).toEqual(['cancelled (bad-package)']);
    expect(actions[0]?.message).toMatch(new RegExp(`contains bug/1 in X-1 .*; ${NAMED_ONLY}$`));
  });
});

test('a refusal of the graph is shown and stops nothing, and the same report is the same bug', async () => {
  await world.apply(flow({ deploy: deployAction('5m') }), CALM);
  const bug = await report({ from: 'no-number-at-all' });
  expect(await report({ from: 'no-number-at-all' })).toMatchObject({ id: bug.id });
  await world.until('it was searched for', isSearched);
  await release(3);
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
  const [{ search } = {} as Bug] = await known();
  expect(search?.problem).toMatch(/no-number-at-all is not a revision/);
  await expect(report({ from: '' })).rejects.toMatchObject({ cause: { message: 'the revision from is missing' } });
});

test('a bug in an unknown target is in nothing, and stops nothing', async () => {
  await world.apply(flow({ deploy: deployAction('5m') }), CALM);
  await release(3);
  await world.ended('kvstore', 1);
  await report({ target: '//no/such:target' });
  await world.until('it was searched for', isSearched);
  await release(4);
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [2])).toEqual(['succeeded']);
  const [bug] = await known();
  expect(bug?.search).toMatchObject({ problem: null, asked: 1, affected: 0, exposed: 0 });
});

describe('a dependency graph that', () => {
  test.each([
    [
      'lies',
      'garbage',
      /whether it contains a bug is unknown: builds answered getDependents in violation of its protocol/,
    ],
    ['breaks', 'error', /whether it contains a bug is unknown: builds did not answer getDependents/],
  ])(
    '%s lets nothing deploy while a bug is in force, and everything once it is itself again',
    async (_, mode, says) => {
      await world.apply(flow({ deploy: deployAction('5m') }), CALM);
      await report({ target: '//lib:other' });
      await world.until('it was searched for', isSearched);
      const fault = { kind: 'http', service: 'dependency-graph', mode };
      const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
      await release(3);
      const isBlocked = async () => actionOf(await world.releaseStatus('kvstore', 1), 'deploy')?.state === 'blocked';
      await world.until('the deploy waits', isBlocked);
      expect(actionOf(await world.releaseStatus('kvstore', 1), 'deploy')?.blockedBy).toMatch(says);
      for (const { versions } of await world.jobs()) expect(versions).toEqual({ 'kv:1': 6 });
      await world.control('DELETE', `/control/faults/${id}`);
      await world.ended('kvstore', 1);
      expect(await endsOf(world, [1])).toEqual(['succeeded']);
    },
  );
});

test('as many bugs as there may be go along into the next history, where they refuse as before and are numbered on', async () => {
  await world.close();
  world = await VirtualWorld.ofKvstore(undefined, shortHistories());
  const full = fullBugRecords();
  await world.client.workflow.start('bugs', {
    ...{ workflowId: 'bugs', taskQueue: world.taskQueue },
    args: [{ heartbeatTimeoutMs: HOUR, records: full }],
  });
  await expect(report()).rejects.toMatchObject({ cause: { message: expect.stringMatching(/^100 bugs are in force/) } });
  const inForce = full.bugs.filter(isInForce);
  const leave = (id: string) =>
    handle().executeUpdate<Bug, [object]>('close-bug', {
      args: [{ id, to: null, reason: 'it is over', actor: 'user:bob' }],
    });
  for (let n = 0; n < 10 && !(await isContinued(world.client, 'bugs')); n += 1) {
    await leave(inForce[n]?.id ?? '');
    await report({ from: `r${n}` });
    await world.sleep(MINUTE);
  }
  expect(await isContinued(world.client, 'bugs')).toBe(true);
  const { bugs, next, due } = await handle().query<BugRecords>('bugs');
  const count = next - full.next;
  expect(bugs.filter(isInForce).map(({ id }) => id)).toEqual([
    ...inForce.slice(count).map(({ id }) => id),
    ...Array.from({ length: count }, (_, n) => `bug/${full.next + n}`),
  ]);
  expect(bugs.filter(isInForce)).toHaveLength(BUG_LIMITS.inForce.max);
  expect(due).toEqual([]);
  expect(bugs.find(({ id }) => id === inForce[50]?.id)).toEqual(inForce[50]);
  await expect(report()).rejects.toMatchObject({ cause: { message: expect.stringMatching(/^100 bugs are in force/) } });
});
