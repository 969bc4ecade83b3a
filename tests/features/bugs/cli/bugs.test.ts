import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bug } from '../../../../features/bugs/domain/bug';
import { newBug } from '../../../builders/bugs';
import { run } from '../../../builders/cliWorld';

const SEARCH = {
  ...{ at: '2026-11-20T12:00:10.000Z', problem: null, asked: 40 },
  affected: 12,
  releases: [
    {
      ...{ release: 'kvstore/12', owners: ['user:alice', 'group:storage'] },
      ...{ artifact: 'executable@kv:12', path: '//kv:server > //lib:rpc' },
    },
  ],
  ...{ exposed: 0, deployed: [] },
};
const BUG = newBug({ id: 'bug/7', from: '12', search: SEARCH });
const FIXED: Bug = { ...BUG, id: 'bug/6', to: '15', closed: { by: 'user:bob', at: BUG.at, reason: 'done' } };
const NONE: Bug = { ...FIXED, id: 'bug/5', to: null };
const client = { listBugs: () => Promise.resolve([BUG, FIXED, NONE]) };

test('a bug is reported with its revisions and who reports it, and its number is printed', async () => {
  const calls: unknown[] = [];
  const reportBug = (...given: unknown[]) => {
    calls.push(given);
    return Promise.resolve(BUG);
  };
  const argv = ['bugs', 'report', '--target', '//lib:rpc', '--from', '12', '--reason', 'it loses replies'];
  const { code, out } = await run([...argv, '-o', 'name'], { client: { reportBug } });
  expect([code, out]).toEqual([0, 'bug/7\n']);
  const report = { target: '//lib:rpc', from: '12', to: null, reason: 'it loses replies' };
  expect(calls).toEqual([[report, 'user:alice']]);
});

describe('an advisory', () => {
  const ADVISORY = {
    id: 'X-1',
    affected: [
      {
        package: { ecosystem: 'npm', name: 'rpc' },
        ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '1.4.0' }] }],
        versions: [],
      },
    ],
  };
  const folder = mkdtempSync(join(tmpdir(), 'advisories-'));
  const file = join(folder, 'X-1.json');
  writeFileSync(file, JSON.stringify({ ...ADVISORY, details: 'it loses replies' }));
  writeFileSync(
    join(folder, 'open.json'),
    JSON.stringify({ id: 'X-1', affected: [{ package: { ecosystem: 'npm', name: 'rpc' } }] }),
  );
  afterAll(() => rmSync(folder, { recursive: true }));
  const report = (...more: string[]) => ['bugs', 'report', ...more, '--reason', 'it loses replies'];

  test('is reported from its file, which says itself what is affected', async () => {
    const calls: unknown[] = [];
    const reportBug = (...given: unknown[]) => {
      calls.push(given);
      return Promise.resolve(BUG);
    };
    expect(await run(report('--advisory', file), { client: { reportBug } })).toMatchObject({ code: 0, err: '' });
    const sent = { target: 'X-1', from: '0', to: null, reason: 'it loses replies', advisory: ADVISORY };
    expect(calls).toEqual([[sent, 'user:alice']]);
  });

  test.each([
    [['--advisory', file, '--from', '12'], 'usage: --advisory cannot be combined with'],
    [['--advisory', join(folder, 'none.json')], 'there is no such file'],
    [['--advisory', join(folder, 'open.json')], 'affected.0: no range and no version says what is affected of rpc'],
    [['--target', '//lib:rpc'], 'usage: a report has --target and --from, or --advisory'],
    [[], 'usage: a report has --target and --from, or --advisory'],
  ])('is refused with %j, and nothing is sent', async (argv, says) => {
    const { code, err } = await run(report(...argv));
    expect(code).toBe(2);
    expect(err).toContain(says);
  });

  test('is shown with the releases that it affects, and with unreadable SBOMs', async () => {
    const unread = { count: 3, why: 'the SBOM kv/12.json cannot be read: it is not JSON' };
    const bug: Bug = { ...BUG, target: 'X-1', from: '0', advisory: ADVISORY, search: { ...SEARCH, unread } };
    const { out } = await run(['bugs', 'show', 'bug/7'], { client: { listBugs: () => Promise.resolve([bug]) } });
    expect(out).toContain('bug/7 open: X-1, rpc from 0 before 1.4.0: it loses replies');
    expect(out).toContain('unreadable: 3 SBOMs, each of which may contain it: the SBOM kv/12.json cannot be read');
  });
});

test('bugs are listed with whether they are open, fixed or were none', async () => {
  const { out } = await run(['bugs', 'list'], { client });
  const rows = out.split('\n').map((line) => line.split(/ {2,}/).slice(0, 4).join(' '));
  expect(rows).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/bug\/7 open \/\/lib:rpc 12 to now/),
      expect.stringMatching(/bug\/6 fixed \/\/lib:rpc 12 to 15/),
      expect.stringMatching(/bug\/5 none/),
    ]),
  );
});

test('a bug says what contains it over which dependencies, who owns that, and how many more there are', async () => {
  const { out } = await run(['bugs', 'show', 'bug/7'], { client });
  expect(out).toContain('12 releases that were under way contain it: cancelled unless deploying');
  expect(out).toContain('kvstore/12 (user:alice, group:storage): executable@kv:12 by //kv:server > //lib:rpc');
  expect(out).toContain('and 11 more');
});

test.each([
  [0, '0 releases that were under way contain it\n'],
  [1, '1 release that was under way contains it: cancelled unless deploying\n'],
])('of %i releases a bug says what became of them', async (affected, words) => {
  const search = { ...SEARCH, affected, releases: SEARCH.releases.slice(0, affected) };
  const one = { listBugs: () => Promise.resolve([{ ...BUG, search }]) };
  expect((await run(['bugs', 'show', 'bug/7'], { client: one })).out).toContain(words);
});

describe('a bug counts what was not understood, where a person reads who has it:', () => {
  const show = async (about: Partial<Bug>): Promise<string> =>
    (await run(['bugs', 'show', 'bug/7'], { client: { listBugs: () => Promise.resolve([{ ...BUG, ...about }]) } })).out;

  test('parts of its advisory that are not looked for', async () => {
    const unheld = ['maven: its versions are not compared', '2 of 3 ranges of rpc are of git commits'];
    const out = await show({ advisory: { id: 'X-1', affected: [], unheld } });
    for (const why of unheld) expect(out).toContain(`not searched for: ${why}`);
  });

  test('SBOMs that cannot be read', async () => {
    const out = await show({ search: { ...SEARCH, unread: { count: 2, why: 'kv.json is not JSON' } } });
    expect(out).toContain('unreadable: 2 SBOMs, each of which may contain it: kv.json is not JSON');
  });

  test.each([
    [1, '1 component of SBOMs without a readable package URL, compared by name at most'],
    [3, '3 components of SBOMs without a readable package URL, compared by name at most'],
  ])('components that are known by their names alone: %i', async (namedOnly, words) => {
    expect(await show({ search: { ...SEARCH, namedOnly } })).toContain(words);
  });

  test('and nothing where all was understood', async () => {
    expect(await show({})).not.toMatch(/not looked for|unreadable|by name at most/);
  });
});

test('shows the reason while a search fails', async () => {
  const why = { ...SEARCH, problem: 'no dependency-graph is configured' };
  const show = (search: Bug['search']) =>
    run(['bugs', 'show', 'bug/7'], { client: { listBugs: () => Promise.resolve([{ ...BUG, search }]) } });
  expect((await show(why)).out).toContain(
    'cannot determine which releases contain it: no dependency-graph is configured',
  );
  expect((await show(null)).out).toContain('searching for the releases');
});

test('a bug is closed with its fix, or without one', async () => {
  const calls: unknown[] = [];
  const closeBug = (...given: unknown[]) => {
    calls.push(given);
    return Promise.resolve(FIXED);
  };
  await run(['bugs', 'close', 'bug/7', '--to', '15', '--reason', 'fixed'], { client: { closeBug } });
  await run(['bugs', 'close', 'bug/7', '--reason', 'it was the test'], { client: { closeBug } });
  expect(calls).toEqual([
    [{ id: 'bug/7', to: '15', reason: 'fixed' }, 'user:alice'],
    [{ id: 'bug/7', to: null, reason: 'it was the test' }, 'user:alice'],
  ]);
});

test.each([
  [['bugs', 'show', 'bug/9'], 4, 'unknown-bug: there is no bug/9'],
  [['bugs', 'show', '7'], 2, 'invalid-id'],
  [['bugs', 'close', 'kvstore/7', '--reason', 'r'], 2, 'invalid-id'],
  [['bugs', 'close', 'bug/7'], 2, 'missing-reason'],
  [['bugs', 'report', '--from', '12', '--reason', 'r'], 2, '--target'],
])('%j is refused: exit code %d, %s', async (argv, exit, says) => {
  const { code, err } = await run(argv, { client });
  expect(code).toBe(exit);
  expect(err).toContain(says);
});
