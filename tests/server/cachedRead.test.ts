import { CachedReader } from '../../server/cachedRead';

const FRESH_MS = 10_000;

/** Looks that end when the test says so. */
function looks() {
  const ends: ((answer: string) => void)[] = [];
  let nowMs = 0;
  const look = (): Promise<string> => new Promise((resolve) => ends.push(resolve));
  return {
    ends,
    scraped: new CachedReader(look, 'nothing', FRESH_MS, () => nowMs),
    later: (ms: number) => (nowMs += ms),
  };
}

test('an answer is shared by readers soon after, and read again later', async () => {
  const { ends, scraped, later } = looks();
  const both = Promise.all([scraped.read(), scraped.read()]);
  ends[0]?.('first');
  expect(await both).toEqual(['first', 'first']);
  later(FRESH_MS);
  const next = scraped.read();
  ends[1]?.('second');
  expect(await next).toBe('second');
  expect(ends).toHaveLength(2);
});

test('while Temporal is silent scrapes are answered in time, and one look waits for it, however many scrapes there are', async () => {
  const { ends, scraped, later } = looks();
  const first = scraped.read();
  later(FRESH_MS);
  const second = scraped.read();
  later(FRESH_MS);
  expect(await Promise.all([first, second, scraped.read()])).toEqual(['nothing', 'nothing', 'nothing']);
  expect(ends).toHaveLength(1);
});

test('a look that never ends is given up, so that metrics come back with Temporal', async () => {
  const { ends, scraped, later } = looks();
  const lost = scraped.read();
  later(60_000);
  const next = scraped.read();
  ends[1]?.('back');
  expect(await next).toBe('back');
  expect(await lost).toBe('nothing');
});
