import { findOutputs } from '../../activities/pipelineOutput';
import { wallClock } from '../../activities/clock';
import { upload, wasmModules } from '../../examples/extensions/artifactFinder';
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

// The finder that workers are themselves, behind HTTP for the sake of the suite.
describeArtifactFinder('pipeline-output', async () => {
  const world = new FinderWorld('pipeline-output', fetch);
  world.histories.set('base', []);
  world.histories.set('idle', []);
  const parts = { client: world.client(), clock: { ...wallClock, now: async () => world.now } };
  const app = serveArtifactFinder('pipeline-output', {
    getArtifacts: async ({ subscriptions, cursor }) => {
      const answer = await findOutputs(parts, { subscriptions, ...(cursor === undefined ? {} : { cursor }) });
      return {
        ...answer,
        found: answer.found.map((each) => ({ ...each, artifact: copy(each.artifact) })),
        refused: [...answer.refused],
      };
    },
  });
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
