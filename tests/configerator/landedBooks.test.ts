import { judgeBooks, type LandedBooks } from './landedBooks';

const landed = (change: number, path: string, value: number) => ({ change, commit: `c${change}`, path, value });
const got = (host: string, change: number, value: number) => ({ host, value, of: `c${change}` });

const GOOD: LandedBooks = {
  acknowledged: [landed(1, 'a', 10), landed(3, 'b', 11), landed(4, 'a', 12)],
  branch: [1, 3, 4].map((change) => ({ change, commit: `c${change}` })),
  store: { sequence: 3, commit: 'c4' },
  got: [got('h1', 1, 10), got('h2', 3, 11), got('h1', 4, 12)],
  paths: new Map([
    ['h1', 'a'],
    ['h2', 'b'],
  ]),
};
const [FIRST, SECOND, LAST] = GOOD.branch;

test.each<[string, Partial<LandedBooks>, readonly string[]]>([
  ['all is well', {}, []],
  ['a host that misses a commit in between', { got: GOOD.got.slice(1) }, []],
  [
    'a commit is lost',
    { branch: [FIRST!, LAST!], store: { sequence: 2, commit: 'c4' } },
    ['change 3 was answered with c3 and is lost', 'h2 went back to c3', 'h2 ends at c3, and undefined is the newest'],
  ],
  [
    'a change lands twice',
    { branch: [FIRST!, FIRST!, SECOND!, LAST!], store: { sequence: 4, commit: 'c4' } },
    ['a change landed twice'],
  ],
  [
    'a change lands that nobody asked for',
    { branch: [{ change: 2, commit: 'c2' }, ...GOOD.branch], store: { sequence: 4, commit: 'c4' } },
    ['change 2 landed, which nobody asked for'],
  ],
  ['the store is behind', { store: { sequence: 2, commit: 'c3' } }, ['the store is at 2 c3, the branch at 3']],
  [
    'a value that is not committed',
    { got: [{ host: 'h2', value: 99, of: '2@abc' }, ...GOOD.got] },
    ['h2 got 99 of 2@abc, not committed', 'h2 went back to 2@abc'],
  ],
  ['a value of another path', { got: [got('h2', 1, 10), ...GOOD.got] }, ['h2 got 10 of c1, not committed']],
  ['a host that goes back', { got: [...GOOD.got, got('h1', 1, 10), got('h1', 4, 12)] }, ['h1 went back to c1']],
  ['a host that gets the same twice', { got: [...GOOD.got, got('h1', 4, 12)] }, ['h1 went back to c4']],
  ['a host that stays behind', { got: GOOD.got.slice(0, 2) }, ['h1 ends at c1, and c4 is the newest']],
])('the books of a campaign see: %s', (_, change, expected) => {
  expect(judgeBooks({ ...GOOD, ...change })).toEqual(expected);
});
