import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createBugActivities } from '../../../../features/bugs/activities/bugs';
import type { Bug, BugSearch } from '../../../../features/bugs/domain/bug';
import type { IndexedRelease } from '../../../../domain/pipeline/pipelineIndex';
import { newBug } from '../../../builders/bugs';
import { parseRegistry } from '../../../../settings/registry';
import { serveDependencyGraph } from '../../../../sdk/server';
import { wallClock } from '../../../../activities/clock';

const BUG = newBug();
const CLOSED = { by: 'user:bob', at: '2026-11-20T12:01:00.000Z', reason: 'it is over' };

const running = (revision: string): IndexedRelease => ({
  ...{ id: `kvstore/${revision}`, pipeline: 'kvstore', number: Number(revision), runs: true, owners: ['user:alice'] },
  startedAt: BUG.at,
  artifacts: [
    {
      ...{ name: 'executable', kind: 'executable', version: `kv:${revision}`, metadata: {} },
      builtFrom: { repository: 'mono', revision, target: '//kv:server' },
    },
  ],
});

/** A search for the bug as it was reported, while the workflow of bugs has it as `now`; which releases get a notice. */
async function searchedWhile(
  now: Bug,
  before: Bug['search'] = null,
  onAsked: (question: { readonly target: string }) => void = () => undefined,
) {
  const noticed: string[] = [];
  const client = {
    workflow: {
      getHandle: (id: string) => ({
        query: () => Promise.resolve({ bugs: [now] }),
        signal: () => Promise.resolve(void noticed.push(id)),
      }),
    },
  } as unknown as Client;
  const graph = serveDependencyGraph('graph', {
    getDependents: ({ target, among, revisions: { to } }) => {
      onAsked({ target });
      const hits = among.filter(({ revision }) => to === undefined || Number(revision) < Number(to));
      return { affected: hits.map((built) => ({ ...built, depth: 1, path: [built.target, '//lib:rpc'] })) };
    },
  });
  const { searchBug } = createBugActivities({
    ...{ client, clock: wallClock, fetch: async (request: Request) => graph.fetch(request) },
    registry: parseRegistry({ extensions: [{ name: 'graph', kind: 'dependency-graph', url: 'http://graph' }] }, {}),
    index: {
      releases: async function* () {
        yield* await Promise.resolve([running('3'), running('5')]);
      },
    },
  });
  const order = { bug: { ...BUG, search: before }, again: before !== null, heartbeatTimeoutMs: 60_000 };
  const search = (await new MockActivityEnvironment().run(searchBug, order)) as BugSearch;
  return { noticed, search };
}

test('releases that contain a bug get a notice of it', async () => {
  const { noticed, search } = await searchedWhile(BUG);
  expect(noticed).toEqual(['release/kvstore/3', 'release/kvstore/5']);
  expect(search).toMatchObject({ problem: null, asked: 2, affected: 2 });
});

test('a bug that is closed while it is searched for ends no release', async () => {
  const { noticed, search } = await searchedWhile({ ...BUG, closed: CLOSED });
  expect(noticed).toEqual([]);
  expect(search).toMatchObject({ problem: null, affected: 0 });
});

test('no graph is asked about a bug that is closed before any search for it', async () => {
  const asked: string[] = [];
  const { search } = await searchedWhile({ ...BUG, closed: CLOSED }, null, ({ target }) => asked.push(target));
  expect(asked).toEqual([]);
  expect(search).toMatchObject({ problem: null, asked: 0 });
});

test('a fix that is known while a bug is searched for counts at once', async () => {
  const { noticed } = await searchedWhile({ ...BUG, to: '5', closed: CLOSED });
  expect(noticed).toEqual(['release/kvstore/3']);
});

describe('a second search', () => {
  const later = new Date(Date.parse(BUG.at) + 5_000).toISOString();

  test('sends its notices once more, and counts no release that the first has counted', async () => {
    const { search: first } = await searchedWhile(BUG);
    const { noticed, search } = await searchedWhile(BUG, { ...first, at: later });
    expect(noticed).toEqual(['release/kvstore/3', 'release/kvstore/5']);
    expect(search).toMatchObject({ asked: 0, affected: 0, releases: [] });
  });

  test('counts one that the first did not see yet, and one that began after it', async () => {
    const { search: first } = await searchedWhile(BUG);
    const missed = { ...first, at: later, affected: 1, releases: first.releases.slice(0, 1) };
    expect((await searchedWhile(BUG, missed)).search).toMatchObject({ affected: 1 });
    expect((await searchedWhile(BUG, { ...first, at: BUG.at })).search).toMatchObject({ asked: 2, affected: 2 });
  });
});
