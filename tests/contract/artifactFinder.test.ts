import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { findOfferChanges } from '../../activities/offerFinder';
import { findOutputs } from '../../activities/pipelineOutput';
import { wallClock } from '../../activities/clock';
import { upload, wasmModules } from '../../examples/extensions/artifactFinder';
import {
  declareOffers,
  formatOfferChange,
  makeOffers,
  NO_OFFERS,
  pinOffers,
  type OfferBoard,
} from '../../domain/offers/board';
import type { FinderAnswer } from '../../domain/finder/sweep';
import type { HistoryRow } from '../../domain/views';
import { viaApp } from '../../sdk/client';
import { ARTIFACT_FINDER_CHECKS, type ArtifactFinderSubject } from '../../sdk/conform/artifactFinder';
import { serveArtifactFinder } from '../../sdk/server';
import { FinderWorld } from '../builders/finderWorld';
import { expectNoViolations, givenFleet, type TestFleet } from '../builders/simulatorFleet';
import { describeSuite } from './suite';

const describeArtifactFinder = (name: string, makeSubject: () => Promise<ArtifactFinderSubject>): void =>
  describeSuite(`artifact finder ${name}`, ARTIFACT_FINDER_CHECKS, makeSubject);

type Simulated = Pick<ArtifactFinderSubject, 'with' | 'other'> & {
  /** The control call that makes version n, and the version. */
  readonly make: (n: number) => [path: string, body: object, version: string];
};

const SIMULATED: Readonly<Record<string, Simulated>> = {
  commits: {
    with: { repository: 'kvstore', branch: 'main' },
    other: { repository: 'kvstore', branch: 'next' },
    make: (n) => ['/commits', { repository: 'kvstore', branch: 'main', revision: `r${n}` }, `r${n}`],
  },
  'tagged-executables': {
    with: { package: 'kv', tag: 'live' },
    other: { package: 'kv', tag: 'next' },
    make: (n) => ['/builds', { version: `kv:${n}`, tag: 'live' }, `kv:${n}`],
  },
  'latest-build': {
    with: { package: 'kv' },
    other: { target: '//other:server' },
    make: (n) => ['/builds', { version: `kv:${n}`, target: '//kv:server' }, `kv:${n}`],
  },
  'model-versions': {
    with: { model: 'ranking' },
    other: { model: 'spam' },
    make: (n) => ['/models', { model: 'ranking', version: `${n}` }, `${n}`],
  },
  'config-changes': {
    with: { path: 'web/limits' },
    other: { path: 'web/colours' },
    make: (n) => ['/configs', { path: 'web/limits', version: `c${n}` }, `c${n}`],
  },
};

for (const [name, { with: wanted, other, make }] of Object.entries(SIMULATED))
  describeArtifactFinder(name, async () => {
    const fleet = givenFleet();
    return {
      ...{ fetch: viaApp(fleet.app), url: `http://simulator/artifact-finders/${name}`, with: wanted, other },
      make: async (n) => {
        const [path, body, version] = make(n);
        await fleet.control('POST', path, body);
        return version;
      },
    };
  });

type Request = Parameters<typeof findOutputs>[1];

/** A finder that workers serve themselves, behind HTTP for the sake of the suite. */
const serve = (name: string, find: (request: Request) => Promise<FinderAnswer>) =>
  serveArtifactFinder(name, {
    getArtifacts: async ({ subscriptions, cursor }) => {
      const answer = await find({ subscriptions, ...(cursor === undefined ? {} : { cursor }) });
      return {
        ...answer,
        found: answer.found.map((each) => ({ ...each, artifact: copy(each.artifact) })),
        refused: [...answer.refused],
      };
    },
  });

describeArtifactFinder('pipeline-output', async () => {
  const world = new FinderWorld('pipeline-output', fetch);
  world.histories.set('base', []);
  world.histories.set('idle', []);
  const parts = { client: world.client(), clock: { ...wallClock, now: async () => world.now } };
  const app = serve('pipeline-output', (request) => findOutputs(parts, request));
  return {
    ...{ fetch: viaApp(app), url: 'http://worker' },
    with: { pipeline: 'base', artifact: 'image' },
    other: { pipeline: 'idle', artifact: 'image' },
    make: async (n) => {
      world.histories.set('base', [release(n, 'succeeded', world.now), release(n + 100, 'failed', world.now)]);
      world.now += 600_000; // later than a pipeline may learn of the end of its release
      return `image:${n}`;
    },
  };
});

describeArtifactFinder('offer', async () => {
  const boards = new Map<string, OfferBoard>();
  let now = 1_000_000_000;
  const parts = { client: clientWith(boards), clock: { ...wallClock, now: async () => now } };
  const app = serve('offer', (request) => findOfferChanges(parts, request));
  return {
    ...{ fetch: viaApp(app), url: 'http://worker' },
    with: { pipeline: 'base', offer: 'vpc' },
    other: { pipeline: 'idle', offer: 'vpc' },
    make: async (n) => {
      const made = { release: n, action: 'deploy', declared: ['vpc'], made: [vpc(n)] };
      const at = new Date(now).toISOString();
      boards.set('offers/base', makeOffers(boards.get('offers/base') ?? NO_OFFERS, made, at));
      now += 600_000; // later than clocks may differ
      return formatOfferChange({ version: `2.3.${n}`, since: at });
    },
  };
});

test('an offer that is for other pipelines, withdrawn, or silent makes no release, and says so if it should', async () => {
  const made = {
    release: 1,
    action: 'deploy',
    declared: ['vpc', 'dns'],
    made: [vpc(1, ['web']), { ...vpc(1), name: 'dns' }],
  };
  const board = makeOffers(NO_OFFERS, made, '2026-11-23T17:00:00.000Z');
  const inUse = pinOffers(board, { user: 'web/deploy', release: 1, uses: [{ offer: 'dns', seq: 2, paths: [] }] });
  const boards = new Map([['offers/base', declareOffers(inUse, ['vpc'])]]);
  const wants = (pipeline: string, from: string, offer: string) => ({
    ...{ pipeline, artifact: 'vpc', with: { pipeline: from, offer } },
  });
  const answer = await findOfferChanges(
    { client: clientWith(boards), clock: wallClock },
    {
      subscriptions: [
        wants('web', 'base', 'vpc'),
        wants('web', 'base', 'dns'),
        wants('app', 'base', 'vpc'),
        wants('web', 'mute', 'vpc'),
      ],
    },
  );
  expect(answer.found).toEqual([
    {
      pipeline: 'web',
      artifact: {
        ...{ name: 'vpc', kind: 'offer', version: '2.3.1-20261123T170000000', producedBy: 'base/1' },
        metadata: { committedAt: '2026-11-23T17:00:00.000Z' },
      },
    },
  ]);
  expect(answer.refused).toEqual([
    { pipeline: 'app', artifact: 'vpc', message: 'base does not offer vpc to app', lasts: true },
    { pipeline: 'web', artifact: 'vpc', message: 'the offers of mute do not answer' },
  ]);
});

const vpc = (n: number, to = ['*']) => ({ name: 'vpc', version: `2.3.${n}`, value: { id: `vpc-${n}` }, to });

/** A Temporal that has only workflows of offers; `offers/mute` is there and does not answer. */
function clientWith(boards: ReadonlyMap<string, OfferBoard>): Client {
  const query = async (id: string) => {
    if (id === 'offers/mute') throw new Error('no answer in time');
    const board = boards.get(id);
    if (board === undefined) throw new WorkflowNotFoundError('no such workflow', id, undefined);
    return board;
  };
  return {
    workflow: { getHandle: (id: string) => ({ query: () => query(id) }) },
    withDeadline: (_: number, work: () => unknown) => work(),
    withAbortSignal: (_: AbortSignal, work: () => unknown) => work(),
  } as unknown as Client;
}

const copy = <T extends { readonly metadata: object }>(artifact: T) => ({
  ...artifact,
  metadata: { ...artifact.metadata },
});
const release = (number: number, state: string, endedMs: number): HistoryRow =>
  ({
    ...{ id: `base/${number}`, number, state, endedAt: new Date(endedMs).toISOString() },
    artifacts: [{ name: 'image', kind: 'package', version: `image:${number}`, metadata: {} }],
  }) as unknown as HistoryRow;

describeArtifactFinder('wasm-modules of examples/extensions', async () => {
  const module = `filter-${Math.random()}`;
  return {
    ...{
      fetch: viaApp(wasmModules),
      url: 'http://wasm-modules',
      with: { module },
      other: { module: `other ${module}` },
    },
    make: async (n) => {
      upload(module, `filter:${n}`);
      return `filter:${n}`;
    },
  };
});

const get = async (fleet: TestFleet, finder: string, wanted: object, cursor?: string) => {
  const context = { pipeline: '', release: 0, deployId: 'sweep', actor: 'service:test', config: {} };
  const subscriptions = [{ pipeline: 'web', artifact: 'input', with: wanted }];
  const init = { method: 'POST', body: JSON.stringify({ context, subscriptions, ...(cursor ? { cursor } : {}) }) };
  const response = await fleet.app.request(`/artifact-finders/${finder}/getArtifacts`, init);
  return (await response.json()) as {
    found: { artifact: { version: string; builtFrom?: object; metadata: object } }[];
    cursor: string;
  };
};
const MAIN = { repository: 'kvstore', branch: 'main' };
const commits = async (fleet: TestFleet, cursor?: string) =>
  (await get(fleet, 'commits', MAIN, cursor)).found.map(({ artifact }) => artifact.version);

describe('the simulated world', () => {
  test('finds no commit whose tests failed, until they pass, and none that is older than one that passed', async () => {
    const fleet = givenFleet();
    const commit = (revision: string, passed: boolean) =>
      fleet.control('POST', '/commits', { ...MAIN, revision, passed, author: 'alice', message: `about ${revision}` });
    await commit('a', true);
    await commit('b', false);
    await commit('c', false);
    expect(await commits(fleet)).toEqual(['a']);
    await commit('c', true);
    expect(await commits(fleet)).toEqual(['c']);
    await commit('b', true);
    expect(await commits(fleet)).toEqual(['c']);
    const { found } = await get(fleet, 'commits', MAIN);
    expect(found[0]?.artifact).toMatchObject({
      builtFrom: { repository: 'kvstore', revision: 'c' },
      metadata: { branch: 'main', author: 'alice', message: 'about c' },
    });
  });

  test('finds what its build service built and what its package service tagged', async () => {
    const fleet = givenFleet();
    const run = async (service: string, inputs: object[], wanted: object) => {
      const context = { pipeline: 'kv', release: 1, deployId: 'd', actor: 'user:alice', config: {} };
      const ids = { runId: `run/${service}`, pipeline: 'kv', release: 1, action: service, attempt: 1 };
      const body = JSON.stringify({ context, ...ids, inputs, with: wanted });
      const headers = { 'idempotency-key': service };
      await fleet.app.request(`/actions/${service}/startRun`, { method: 'POST', headers, body });
      fleet.pass(60_000);
    };
    const source = { name: 'source', kind: 'source', version: '7', metadata: {} };
    await run('build', [source], { target: '//storage/kv:server', outputs: ['executable'] });
    expect((await get(fleet, 'latest-build', { package: 'kv' })).found[0]?.artifact.version).toBe('kv:7');
    expect((await get(fleet, 'latest-build', { target: '//storage/kv:server' })).found[0]?.artifact).toMatchObject({
      version: 'kv:7',
      builtFrom: { revision: '7' },
    });
    await run('pkg', [{ ...source, name: 'executable', version: 'kv:7' }], { tag: 'live', outputs: ['package'] });
    const tagged = await get(fleet, 'tagged-executables', { package: 'kv', tag: 'live' });
    expect(tagged.found[0]?.artifact).toMatchObject({ version: 'kv:7', metadata: { tag: 'live' } });
  });

  test('keeps what can be found in its snapshots, and forgets it with a reset', async () => {
    const fleet = givenFleet();
    await fleet.control('POST', '/commits', { ...MAIN, revision: 'a' });
    const { cursor } = await get(fleet, 'commits', MAIN);
    const { snapshot } = (await fleet.control('GET', '/snapshot')) as { snapshot: string };
    await fleet.control('POST', '/reset', {});
    expect(await commits(fleet)).toEqual([]);
    await fleet.control('POST', '/snapshot', { snapshot });
    expect(await commits(fleet)).toEqual(['a']);
    expect(await commits(fleet, cursor)).toEqual([]);
  });

  test('after a reset, an old cursor hides nothing that came since', async () => {
    const fleet = givenFleet();
    for (const revision of ['a', 'b', 'c']) await fleet.control('POST', '/commits', { ...MAIN, revision });
    const { cursor } = await get(fleet, 'commits', MAIN);
    await fleet.control('POST', '/reset', {});
    await fleet.control('POST', '/commits', { ...MAIN, revision: 'd' });
    expect(await commits(fleet, cursor)).toEqual(['d']);
  });
});

afterEach(expectNoViolations);
