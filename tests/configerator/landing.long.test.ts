import fc from 'fast-check';
import { makeCommits } from '../../configerator/repository/newCommits';
import { Lander } from '../../configerator/repository/land';
import { bench, NOW, type Bench } from './repositories';
import { LIMITS, program, type Files } from './sources';

const valuesAt = ({ git }: Bench, ref: string): Record<string, unknown> =>
  Object.fromEntries(
    git('ls-tree', '-r', '--name-only', ref, 'values/')
      .trim()
      .split('\n')
      .filter((name) => name !== '')
      .map((name) => [name.replace(/^values\/|\.json$/g, ''), JSON.parse(git('show', `${ref}:${name}`)) as unknown]),
  );

const landedOn = ({ git }: Bench): readonly number[] =>
  git('log', '--reverse', '--format=%(trailers:key=Change,valueonly,separator=%x2C)', 'main')
    .trim()
    .split('\n')
    .map(Number);

test('changes of other files land in order although all were proposed on the same commit', async () => {
  const it = await bench();
  const changes = [
    await it.proposeValues({ a: 1 }),
    await it.proposeValues({ b: 2 }),
    await it.proposeValues({ c: 3 }),
  ];
  const landed = await new Lander(it.repository).land(
    changes.map(({ change }) => change),
    NOW,
  );
  expect(landed).toEqual([1, 2, 3].map((change) => ({ change, commit: expect.stringMatching(/^[0-9a-f]{40}$/) })));
  expect(landedOn(it)).toEqual([1, 2, 3]);
  expect(valuesAt(it, 'main')).toEqual({ a: 1, b: 2, c: 3 });
});

test('a change of the same file is refused by the name of the file and of the change that won', async () => {
  const it = await bench();
  const [first, second] = [await it.proposeValues({ a: 1 }, null), await it.proposeValues({ a: 2, b: 2 }, null)];
  const lander = new Lander(it.repository);
  const refusal = {
    change: second.change,
    refused: expect.objectContaining({
      code: 'config-conflict',
      message: 'change 2 cannot land: a.json was changed by change 1 meanwhile',
    }),
  };
  expect(await lander.land([first.change, second.change], NOW)).toEqual([
    expect.objectContaining({ change: 1 }),
    refusal,
  ]);
  expect(await lander.land([second.change], NOW)).toEqual([refusal]);
  expect(valuesAt(it, 'main')).toEqual({ a: 1 });
});

test('values are those of the merged tree: a program of one change is run again with the module of another', async () => {
  const it = await bench();
  const lander = new Lander(it.repository);
  await lander.land([(await it.proposeFiles(LIMITS)).change], NOW);
  const base = await it.repository.head();
  const module = await it.proposeFiles(
    { ...LIMITS, 'feed/shared.ts': LIMITS['feed/shared.ts']!.toString().replace('50', '70') },
    base,
  );
  const user = await it.proposeFiles({ ...LIMITS, 'feed/other.config.ts': LIMITS['feed/limits.config.ts']! }, base);
  expect(valuesAt(it, `refs/changes/${user.change}`)).toMatchObject({ 'feed/other': { soft: 50 } });
  await lander.land([module.change, user.change], NOW);
  expect(valuesAt(it, 'main')).toEqual({
    'feed/limits': { soft: 70, hard: 100 },
    'feed/other': { soft: 70, hard: 100 },
  });
});

const importing = (module: string): string => `import { z } from 'zod';
import { defineConfig } from 'conveyor/config';
import { LIMIT } from '${module}';
export default defineConfig(z.number(), LIMIT);`;

test('a change that would also change the value of a program that imports its module meanwhile is refused, and lands proposed again', async () => {
  const it = await bench();
  const lander = new Lander(it.repository);
  const files = {
    'shared/limit.ts': 'export const LIMIT: number = 50;',
    'feed/limit.config.ts': importing('../shared/limit'),
    'ads/budget.config.ts': program('7'),
  };
  await lander.land([(await it.proposeFiles(files)).change], NOW);
  const base = await it.repository.head();
  const lower = { ...files, 'shared/limit.ts': 'export const LIMIT: number = 20;' };
  const feed = await it.proposeFiles(lower, base);
  const imports = { 'ads/budget.config.ts': importing('../shared/limit') };
  const ads = await it.proposeFiles({ ...files, ...imports }, base);
  expect([feed.paths, ads.paths]).toEqual([['feed/limit'], ['ads/budget']]);
  const refused = {
    ...{ code: 'config-conflict', hint: expect.stringContaining('propose again') },
    message: `change ${feed.change} cannot land: it would now also change ads/budget, which was not in the proposal; ads/budget.config.ts, which produces that value, was last changed by change ${ads.change}`,
  };
  expect(await lander.land([ads.change, feed.change], NOW)).toEqual([
    { change: ads.change, commit: expect.any(String) },
    { change: feed.change, refused },
  ]);
  expect(valuesAt(it, 'main')).toEqual({ 'feed/limit': 50, 'ads/budget': 50 });
  expect(await new Lander(await it.another()).land([feed.change], NOW)).toEqual([{ change: feed.change, refused }]);
  const again = await it.proposeFiles({ ...lower, ...imports });
  expect(again.paths).toEqual(['ads/budget', 'feed/limit']);
  await lander.land([again.change], NOW);
  expect(valuesAt(it, 'main')).toEqual({ 'feed/limit': 20, 'ads/budget': 20 });
});

test('a change made by hand lands no value that it does not have: none was judged', async () => {
  const it = await bench();
  const byHand = async (files: Files) => {
    const made = Object.entries(files).map(([path, text]) => ({ path, text }));
    const commit = { parent: null, author: 'bob', message: 'By hand', files: made };
    return it.repository.number((await makeCommits(it.repository.git, 'refs/drafts/by-hand', [commit], NOW))[0] ?? '');
  };
  const hiding = await byHand({ 'feed/a.json': '1', 'values/feed/a.json': '1', 'ads/b.json': '2' });
  const whole = await byHand({ 'feed/c.json': '1', 'values/feed/c.json': '1' });
  expect(await new Lander(it.repository).land([hiding, whole], NOW)).toEqual([
    {
      change: hiding,
      refused: expect.objectContaining({
        code: 'config-conflict',
        message: expect.stringContaining(
          `it would now also change ads/b, which was not in the proposal; ads/b.json, which produces that value, was last changed by change ${hiding}`,
        ),
      }),
    },
    { change: whole, commit: expect.any(String) },
  ]);
});

test('a change that does not compile on the branch any more is refused by the rule that it breaks', async () => {
  const it = await bench();
  const lander = new Lander(it.repository);
  await lander.land([(await it.proposeFiles(LIMITS)).change], NOW);
  const base = await it.repository.head();
  const stricter = LIMITS['feed/limits.validate.ts']!.toString().replace('soft <= hard', 'soft < 60');
  const rule = await it.proposeFiles({ ...LIMITS, 'feed/limits.validate.ts': stricter }, base);
  const value = await it.proposeFiles(
    {
      ...LIMITS,
      'feed/limits.config.ts': LIMITS['feed/limits.config.ts']!.toString().replace('soft: SOFT', 'soft: 65'),
    },
    base,
  );
  expect(await lander.land([rule.change, value.change], NOW)).toEqual([
    { change: rule.change, commit: expect.any(String) },
    { change: value.change, refused: expect.objectContaining({ code: 'config-value-refused' }) },
  ]);
});

test('an unproposed change with more values than the limit does not land and blocks no other', async () => {
  const it = await bench();
  const files = Array.from({ length: 2001 }, (_, n) => ({ path: `b/n${n}.json`, text: '1' }));
  const [commit = ''] = await makeCommits(
    it.repository.git,
    'refs/drafts/by-hand',
    [{ parent: null, author: 'bob', message: 'Many', files }],
    NOW,
  );
  const many = await it.repository.number(commit);
  const { change } = await it.proposeValues({ a: 1 });
  expect(await new Lander(it.repository).land([many, change], NOW)).toEqual([
    { change: many, refused: expect.objectContaining({ code: 'over-limit' }) },
    { change, commit: expect.any(String) },
  ]);
});

test('removing a program removes its value', async () => {
  const it = await bench();
  const lander = new Lander(it.repository);
  await lander.land([(await it.proposeFiles({ ...LIMITS, 'a.json': '1' })).change], NOW);
  const { change } = await it.proposeFiles({ 'a.json': '1' });
  await lander.land([change], NOW);
  expect(valuesAt(it, 'main')).toEqual({ a: 1 });
});

test('the same change lands once, however often and from wherever it is requested', async () => {
  const it = await bench();
  const { change } = await it.proposeValues({ a: 1 });
  const [first] = await new Lander(it.repository).land([change], NOW);
  expect(await new Lander(await it.another()).land([change], NOW)).toEqual([first]);
  expect(landedOn(it)).toEqual([1]);
});

test('a concurrent push is no obstacle: both are on the branch', async () => {
  const it = await bench();
  const [a, b] = [await it.proposeValues({ a: 1 }), await it.proposeValues({ b: 2 })];
  const [one, other] = [new Lander(it.repository), new Lander(await it.another())];
  await Promise.all([one.land([a.change], NOW), other.land([b.change], NOW)]);
  expect(valuesAt(it, 'main')).toEqual({ a: 1, b: 2 });
  expect([...landedOn(it)].sort()).toEqual([1, 2]);
});

test('in any order and in any batches: none is lost, none lands twice, and who is refused learns of the file and the winner', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 3 }), {
        minLength: 2,
        maxLength: 6,
      }),
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 6, maxLength: 6 }),
      fc.boolean(),
      async (touched, sizes, twice) => {
        const it = await bench();
        const proposed: number[] = [];
        for (const [index, paths] of touched.entries())
          proposed.push((await it.proposeValues(Object.fromEntries(paths.map((path) => [path, index])), null)).change);
        const lander = new Lander(it.repository);
        const winners = new Map<string, number>();
        const landed: number[] = [];
        for (let at = 0, turn = 0; at < proposed.length; turn++) {
          const batch = proposed.slice(at, at + (sizes[turn] ?? 1));
          const results = await lander.land(batch, NOW);
          // Asked again, what landed has landed; who was refused may by then be so for what landed after it.
          const commitsOf = (all: typeof results) => all.filter((one) => 'commit' in one);
          if (twice) expect(commitsOf(await lander.land(batch, NOW))).toEqual(commitsOf(results));
          for (const result of results) {
            const paths = [...new Set(touched[result.change - 1])].sort();
            const taken = paths.find((path) => winners.has(path));
            if ('commit' in result) {
              expect(taken).toBeUndefined();
              landed.push(result.change);
              for (const path of paths) winners.set(path, result.change);
            } else
              expect(result.refused.message).toBe(
                `change ${result.change} cannot land: ${taken}.json was changed by change ${winners.get(taken ?? '')} meanwhile`,
              );
          }
          at += batch.length;
        }
        expect(landedOn(it)).toEqual(landed);
        expect(valuesAt(it, 'main')).toEqual(
          Object.fromEntries([...winners].map(([path, change]) => [path, change - 1])),
        );
      },
    ),
    { numRuns: 8, examples: [[[['d', 'a'], ['d', 'b'], ['b']], [1, 2, 1, 1, 1, 1], true]] },
  );
});
