import type { ArchivedRelease } from '../../domain/where/archived';
import type { Archive } from '../../archive/port';
import type { WhereView } from '../../domain/where/view';
import { conveyorError } from '../../domain/errors';
import { WHERE_LIMITS } from '../../domain/limits';
import { appOf, FakePipelines } from '../builders/serverWorld';
import { bench, type Bench } from '../configerator/repositories';
import { configServer } from './configWorld';

const SHA = '4f0c1d2e9b8a7c6d5e4f3a2b1c0d9e8f7a6b5c4d';
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

async function ask(query: string, given: Parameters<typeof appOf>[1] = {}) {
  const pipelines = new FakePipelines();
  const response = await appOf(pipelines, given).request(`/v1/where${query}`);
  return { status: response.status, body: (await response.json()) as WhereView, calls: pipelines.calls };
}

test('the releases of a revision are asked for with a limit, for all readers', async () => {
  const { status, body, calls } = await ask(`?revision=${SHA}&limit=3`);
  expect({ status, calls }).toEqual({ status: 200, calls: [['where', { revision: SHA, limit: 3 }]] });
  expect(body).toMatchObject({ kind: 'where', asked: SHA, total: 0, searched: { archive: null, repositories: [] } });
  expect((await ask('?revision=kv:12')).calls).toEqual([['where', { revision: 'kv:12', limit: 100 }]]);
  expect((await ask(`?revision=${SHA}`, { reads: 'authenticated' })).status).toBe(401);
});

test.each([
  '',
  '?revision=',
  '?revision=%20',
  '?revision=a%1b',
  `?revision=${'x'.repeat(641)}`,
  '?revision=a&limit=0',
  '?revision=a&limit=1001',
  '?revision=a&of=b',
])('a text that is no revision is refused before anything is asked: %s', async (query) => {
  const { status, calls } = await ask(query);
  expect({ status, calls }).toEqual({ status: 400, calls: [] });
});

describe('a repository of configuration', () => {
  const commit = (it: Bench, parent: string | null, message: string): string =>
    it
      .git(
        ...['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit-tree', EMPTY_TREE, '-m', message],
        ...(parent === null ? [] : ['-p', parent]),
      )
      .trim();
  /** Changes that landed one after the other; each was proposed as another commit. */
  function land(it: Bench, count: number): { readonly proposed: string[]; readonly landed: string[] } {
    const [proposed, landed]: [string[], string[]] = [[], []];
    for (let n = 1; n <= count; n += 1) {
      const base = landed.at(-1) ?? null;
      proposed.push(commit(it, base, `proposal ${n}`));
      landed.push(commit(it, base, `Change it\n\nChange: ${n}\nProposed-as: ${proposed.at(-1)}\n`));
    }
    it.git('update-ref', 'refs/heads/main', landed.at(-1) ?? '');
    return { proposed, landed };
  }

  test('names the changes that contain a commit, as they were proposed, newest first', async () => {
    const it = await bench();
    const { proposed, landed } = land(it, 3);
    const [first = '', second = ''] = landed;
    const other = commit(it, null, 'not on the branch');
    const { repository } = it;
    expect(await repository.revisionsWith(first, 10)).toEqual([proposed[2], proposed[1], proposed[0]]);
    expect(await repository.revisionsWith(second.slice(0, 10), 10)).toEqual([proposed[2], proposed[1]]);
    expect(await repository.revisionsWith(proposed[1] ?? '', 10)).toEqual([proposed[2], proposed[1]]);
    expect(await repository.revisionsWith(first, 2)).toEqual([proposed[2], proposed[1]]);
    expect(await repository.revisionsWith(other, 10)).toBeNull();
    expect(await repository.revisionsWith(SHA, 10)).toBeNull();
    expect(await repository.revisionsWith(SHA.slice(0, 7), 10)).toBeNull();
  });

  test('is asked for newer revisions, which are searched for, too', async () => {
    const pipelines = new FakePipelines();
    const { it, get } = await configServer({ client: pipelines.client });
    const { proposed, landed } = land(it, 2);
    // The first question copies the repository, which may take longer than a question waits.
    let body: WhereView;
    do body = (await get(`/v1/where?revision=${landed[0]}&limit=5`)).body;
    while (body.searched.repositories[0]?.problem === 'it does not answer');
    expect(body).toMatchObject({ searched: { repositories: [{ name: 'flags', problem: null }] } });
    expect(pipelines.calls.slice(-2)).toEqual([
      ['where', { revision: landed[0], limit: 5 }],
      ['where', { revision: landed[0], limit: 5, newer: [proposed[1], proposed[0]] }],
    ]);
    expect(WHERE_LIMITS.newer.max).toBe(50);
  });

  test('that cannot be read delays nothing else, and the answer says so', async () => {
    const pipelines = new FakePipelines();
    const { get } = await configServer({ client: pipelines.client }, { git: '/nowhere/flags.git' });
    const { status, body } = await get(`/v1/where?revision=${SHA}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      asked: SHA,
      searched: { repositories: [{ name: 'flags', problem: expect.stringMatching(/./) as string }] },
    });
    expect(pipelines.calls).toHaveLength(1);
  });
});

describe('the archive', () => {
  const row = (release: number, revision: string, more: Partial<ArchivedRelease> = {}): ArchivedRelease => ({
    ...{ pipeline: 'kvstore', release, state: 'succeeded', cause: null, startedMs: 1_000, endedMs: 2_000 },
    artifacts: JSON.stringify([
      {
        name: 'executable',
        kind: 'executable',
        version: `kv:${release}`,
        builtFrom: { repository: 'acme/kv', revision },
      },
    ]),
    ...more,
  });
  const archive = (findReleases: Archive['findReleases']) => ({ archive: { findReleases } as Archive });

  test('has the releases that Temporal has forgotten', async () => {
    const asked: unknown[] = [];
    const rows = [
      row(3, SHA, { state: 'cancelled', cause: 'superseded' }),
      row(2, SHA),
      row(1, `${SHA.slice(0, 7)}${'0'.repeat(33)}`),
      row(0, SHA, { artifacts: '{' }),
    ];
    const { body } = await ask(
      `?revision=${SHA.slice(0, 9)}`,
      archive((...given) => {
        asked.push(given);
        return Promise.resolve(rows);
      }),
    );
    expect(asked).toEqual([[SHA.slice(0, 7), 1000]]);
    expect(body).toMatchObject({
      ...{ revision: SHA, total: 2, underWay: 0, succeeded: 1, searched: { archive: { problem: null } } },
      releases: [
        { id: 'kvstore/3', stage: 'superseded', endedAt: '1970-01-01T00:00:02.000Z', next: 'conveyor history kvstore' },
        {
          id: 'kvstore/2',
          stage: 'succeeded',
          contains: { by: 'revision', revision: SHA, artifact: 'executable@kv:2' },
        },
      ],
    });
  });

  test('names the revisions of an ambiguous abbreviation', async () => {
    const other = `${SHA.slice(0, 9)}${'0'.repeat(31)}`;
    const { body } = await ask(
      `?revision=${SHA.slice(0, 9)}`,
      archive(() => Promise.resolve([row(3, SHA), row(2, other)])),
    );
    expect(body).toMatchObject({
      ...{ revision: null, releases: [], total: 2 },
      candidates: [
        { revision: SHA, release: 'kvstore/3' },
        { revision: other, release: 'kvstore/2' },
      ],
    });
  });

  test('that cannot be read is named, and the answer is there all the same', async () => {
    const gone = conveyorError('archive-unavailable', { place: '/a.duckdb', detail: 'No space left on device' });
    const { status, body } = await ask(
      `?revision=${SHA}`,
      archive(() => Promise.reject(gone)),
    );
    expect(status).toBe(200);
    expect(body.searched.archive?.problem).toMatch(/No space left/);
  });
});
