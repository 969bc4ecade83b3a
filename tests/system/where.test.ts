import { randomBytes, randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { createClient, type ConveyorClient } from '../../client';
import type { Artifact } from '../../domain/artifact';
import { workflowIds } from '../../domain/ids';
import { WHERE_LIMITS } from '../../domain/limits';
import type { ReleaseSummary } from '../../domain/views';
import type { WhereView } from '../../domain/where/view';
import { listReleaseLabels } from '../../domain/where/words';
import { tagPairs } from '../../workflows/tags';
import { eventually } from './waiting';

// No worker polls this queue: lists show the values with which the workflows were started.
const taskQueue = `where-${randomUUID()}`;
let connection: Connection;
let temporal: Client;
let client: ConveyorClient;
beforeAll(async () => {
  const address = process.env['CONVEYOR_TEST_TEMPORAL'] ?? '';
  connection = await Connection.connect({ address });
  temporal = new Client({ connection });
  client = await createClient({ address, taskQueue });
});
afterAll(async () => {
  for await (const { workflowId } of temporal.workflow.list({ query: `TaskQueue = '${taskQueue}'` }))
    await temporal.workflow
      .getHandle(workflowId)
      .terminate()
      .catch(() => undefined);
  await client.close();
  await connection.close();
});

const sha = (): string => randomBytes(20).toString('hex');
const built = (revision: string, version = `kv:${revision.slice(0, 8)}`): Artifact => ({
  ...{ name: 'executable', kind: 'executable', version, metadata: {} },
  builtFrom: { repository: 'acme/kv', revision },
});

let last = 0;
/** A release under way, as its pipeline starts it; without labels, as an older worker did. */
async function given(artifacts: readonly Artifact[], { labelled = true, pipeline = `shop-${sha().slice(0, 8)}` } = {}) {
  const number = ++last;
  const trigger = { kind: 'webhook', actor: 'service:webhook', key: null } as const;
  const summary: ReleaseSummary = {
    ...{ id: `${pipeline}/${number}`, kind: 'release', pipeline, number, state: 'running', cause: null, trigger },
    ...{ startedAt: new Date().toISOString(), endedAt: null, artifacts },
  };
  await temporal.workflow.start('release', {
    ...{ workflowId: workflowIds.release(pipeline, number), taskQueue, args: [null], memo: { summary } },
    typedSearchAttributes: tagPairs({
      ...{ ConveyorPipeline: pipeline, ConveyorRelease: summary.id, ConveyorState: 'running' },
      ...(labelled ? { ConveyorLabels: listReleaseLabels(trigger, artifacts) } : {}),
    }),
  });
  return summary.id;
}

const finds = (revision: string, total: number, limit = 50): Promise<WhereView> =>
  eventually(`${total} releases contain ${revision}`, async () => {
    const found = await client.where({ revision, limit });
    return found.total === total && found;
  });
const ids = ({ releases }: WhereView): string[] => releases.map(({ id }) => id);

test('a release is found from its start on by its commit, abbreviated or in upper case, its version and its digest', async () => {
  const [commit, hex] = [sha(), randomBytes(32).toString('hex')];
  const id = await given([{ ...built(commit), digest: `sha256:${hex}` }]);
  await given([built(sha())]);
  const found = await finds(commit, 1);
  expect(found).toMatchObject({
    ...{ kind: 'where', asked: commit, revision: commit, candidates: [], underWay: 1, succeeded: 0 },
    releases: [
      { id, state: 'running', stage: 'running', contains: { by: 'revision', revision: commit }, everywhereAt: null },
    ],
    searched: { retentionMs: expect.any(Number) as number, older: null },
  });
  // No worker polls for it, and the answer does not hide that.
  expect(found.releases[0]?.problem).toMatch(/no worker|does not answer/);
  for (const asked of [
    commit.slice(0, 7),
    commit.toUpperCase(),
    `kv:${commit.slice(0, 8)}`,
    `sha256:${hex}`,
    hex.slice(0, 12),
  ])
    expect(ids(await client.where({ revision: asked, limit: 50 }))).toEqual([id]);
});

test('an abbreviation of two commits names both instead of releases', async () => {
  const commit = sha();
  const other = `${commit.slice(0, 9)}${sha().slice(0, 31)}`;
  const first = await given([built(commit, 'one')]);
  const second = await given([built(other, 'two')]);
  const found = await finds(commit.slice(0, 9), 2);
  expect([...found.candidates].sort((a, b) => a.release.localeCompare(b.release))).toEqual(
    [
      { revision: commit, release: first },
      { revision: other, release: second },
    ].sort((a, b) => a.release.localeCompare(b.release)),
  );
  expect(found).toMatchObject({ revision: null, releases: [] });
  expect(ids(await client.where({ revision: commit.slice(0, 9) + commit.slice(9), limit: 50 }))).toEqual([first]);
});

test('the newest releases come first, by pipeline, and those left out are counted', async () => {
  const commit = sha();
  const [a, b] = ['a', 'b'].map((name) => `${name}-${commit.slice(0, 8)}`) as [string, string];
  const made: string[] = [];
  for (const pipeline of [a, b, a, a, b]) made.push(await given([built(commit)], { pipeline }));
  expect(ids(await finds(commit, 5))).toEqual([4, 1, 3, 2, 0].map((n) => made[n]));
  expect(await client.where({ revision: commit, limit: 2 })).toMatchObject({
    ...{ total: 5, underWay: 5, releases: [{ id: made[4] }, { id: made[3] }] },
  });
});

test('a release that began before releases were labelled is found, and those that were not read are counted', async () => {
  const commit = sha();
  const id = await given([built(commit)], { labelled: false });
  const found = await finds(commit.slice(0, 12), 1);
  expect(ids(found)).toEqual([id]);
  const { older } = found.searched;
  expect(older?.count).toBeGreaterThanOrEqual(1);
  expect(older?.read).toBeLessThanOrEqual(WHERE_LIMITS.older.max);
});

test('a release is found by a newer revision that contains the one that was asked for', async () => {
  const [commit, newer] = [sha(), sha()];
  const id = await given([built(newer)]);
  await finds(newer, 1);
  const found = await client.where({ revision: commit, limit: 50, newer: [newer] });
  expect(found.releases).toMatchObject([{ id, contains: { by: 'ancestor', revision: newer } }]);
  expect(found.revision).toBe(commit);
});

test('nothing is found for a commit that no release contains, and a text that is none is refused', async () => {
  expect(await client.where({ revision: sha(), limit: 50 })).toMatchObject({ revision: null, releases: [], total: 0 });
  expect(await client.where({ revision: `x' OR WorkflowType = 'release`, limit: 50 })).toMatchObject({ total: 0 });
  await expect(client.where({ revision: ' ', limit: 50 })).rejects.toMatchObject({ code: 'usage' });
});
