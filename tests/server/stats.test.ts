import type { Archive, StatsQuery } from '../../archive/port';
import { DAY_MS } from '../../domain/milliseconds';
import { conveyorError } from '../../domain/errors';
import { appOf, NOW_MS, TOKEN } from '../builders/serverWorld';
import { talliesOf } from '../builders/statsTallies';

/** An archive that knows one category, and notes what it is asked. */
function given(over: Partial<Archive> = {}) {
  const asked: StatsQuery[] = [];
  const archive: Partial<Archive> = {
    mark: () => Promise.resolve({ origin: 'default/a', readUntilMs: NOW_MS }),
    tallies: (query) => {
      asked.push(query);
      return Promise.resolve(talliesOf('regular'));
    },
    ...over,
  };
  return { asked, app: appOf(undefined, { archive: archive as Archive }) };
}

test('statistics are of the last three weeks by category, unless something else is asked for', async () => {
  const { asked, app } = given();
  const response = await app.request('/v1/stats');
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    readUntil: '2026-11-20T12:00:00.000Z',
    serviceLevel: [{ category: 'regular', isMet: false }],
  });
  await app.request('/v1/stats?since=2026-01-01T00:00:00.000Z&by=all');
  expect(asked).toEqual([
    { sinceMs: NOW_MS - 21 * DAY_MS, untilMs: NOW_MS, by: 'category' },
    { sinceMs: Date.parse('2026-01-01T00:00:00Z'), untilMs: NOW_MS, by: 'all' },
  ]);
});

test.each(['since=soon', 'by=owner', 'untill=now'])('an unknown question is a 400: %s', async (query) => {
  const { asked, app } = given();
  expect((await app.request(`/v1/stats?${query}`)).status).toBe(400);
  expect(asked).toEqual([]);
});

test('a server without an archive says what is missing in its configuration', async () => {
  const response = await appOf().request('/v1/stats');
  expect(response.status).toBe(404);
  expect(JSON.stringify(await response.json())).toContain('has no archive section');
});

test('an archive that cannot be used now is a 503, and worth another try', async () => {
  const gone = conveyorError('archive-unavailable', { place: '/a.duckdb', detail: 'No space left on device' });
  const { app } = given({ tallies: () => Promise.reject(gone) });
  expect((await app.request('/v1/stats')).status).toBe(503);
});

test('an anonymous caller sees nothing if reads are not open', async () => {
  expect((await appOf(undefined, { reads: 'authenticated' }).request('/v1/stats')).status).toBe(401);
});

test.each([
  ['with a token', { authorization: `Bearer ${TOKEN}` }],
  ['without one', {}],
])('slow statistics of people %s keep no other reader waiting', async (_, headers) => {
  let free = (): void => undefined;
  const held = new Promise<void>((resolve) => (free = resolve));
  const { app } = given({ tallies: async () => (await held, talliesOf('regular')) });
  const slow = Array.from({ length: 30 }, async () => (await app.request('/v1/stats', { headers })).status);
  expect((await app.request('/v1/pipelines/kvstore', { headers })).status).toBe(200);
  const metrics = await (await app.request('/metrics')).text();
  expect(metrics).toMatch(/in_flight\{lane="(strangersS|s)tatistics"\} 2\n/);
  free();
  expect(new Set(await Promise.all(slow))).toEqual(new Set([200]));
});
