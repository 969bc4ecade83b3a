import type { ReadinessPart } from '../../client/api';
import { checkDoor } from '../../cli/doctor/door';
import { tokenChecks } from '../../cli/doctor/server';
import type { ServerFetch } from '../../client/http/send';
import { conveyorError } from '../../domain/errors';
import type { ExaminationEnd, ExaminationView } from '../../domain/examination';
import { SEARCH_ATTRIBUTES } from '../../domain/searchAttributes';
import { appOf, FakePipelines, TOKEN } from '../builders/serverWorld';

const URL = 'http://localhost:4500';
const at = '2026-11-27T18:00:00.000Z';

const examined = (end: ExaminationEnd, more: Partial<ExaminationView> = {}): ExaminationView => ({
  ...{ taskQueue: 'conveyor', pollers: [{ identity: '12@one', build: null, lastPollAt: at }], lastPollAt: at, end },
  ...{ backlogs: [], clockAheadMs: 0, namespace: 'default', attributes: null, builds: null, listing: null },
  ...more,
});
const part = (name: ReadinessPart['name'], ok: boolean, detail = 'answers'): ReadinessPart => ({ name, ok, detail });

interface Behind {
  readonly parts?: readonly ReadinessPart[];
  readonly examine?: () => Promise<ExaminationView>;
  readonly token?: string;
  readonly draining?: boolean;
}

/** The findings of doctor through a server: name, state and words of each check. */
async function seen({ parts, examine, token = TOKEN, draining = false }: Behind) {
  const pipelines = new FakePipelines();
  const readiness = () => Promise.resolve(parts ?? [part('temporal', true), part('worker', true)]);
  const app = appOf(pipelines, {
    ...{ client: { ...pipelines.client, readiness }, reads: 'authenticated', isDraining: () => draining },
    ...(examine && { examine }),
  });
  return checksOf(async (url, request) => app.request(url, request), token);
}

async function checksOf(askServer: ServerFetch, token = TOKEN) {
  const io = { askServer, sleep: () => Promise.resolve() };
  const checks = await checkDoor({ CONVEYOR_SERVER: URL, CONVEYOR_TOKEN: token }, {}, io);
  return checks.map(({ name, state, found, how }) => ({ name, state, found, how }));
}
const shown = (checks: Awaited<ReturnType<typeof checksOf>>) => checks.map(({ name, state }) => `${name}: ${state}`);

describe('doctor through a server', () => {
  test('has the server examine what is behind it, and names the same broken things as one that reaches Temporal', async () => {
    const extensions = [{ kind: 'push-type', name: 'twine', address: 'http://here', trouble: 'no answer' }];
    const attributes = Object.fromEntries(Object.entries(SEARCH_ATTRIBUTES).map(([name]) => [name, 1]));
    const answered = { kind: 'answered', tookMs: 300, extensions, unused: [] } as const;
    const checks = await seen({
      examine: () => Promise.resolve(examined(answered, { attributes, clockAheadMs: 120_000 })),
    });
    expect(shown(checks)).toEqual([
      ...['door: ok', 'temporal of the server: ok', 'search attributes: missing', 'workers: ok', 'extensions: ok'],
      ...['push-type twine: missing', 'clock: warning', 'finders: ok'],
    ]);
    expect(checks[0]?.found).toBe(`the server at ${URL} (CONVEYOR_SERVER), as service:ci`);
    expect(checks.find(({ name }) => name === 'clock')?.found).toBe(
      "Temporal's clock is 2m ahead of that of the server",
    );
  });

  test.each<[what: string, end: ExaminationEnd, broken: string]>([
    ['a worker that is frozen', { kind: 'silent', withinMs: 15_000, takenBy: '12@one' }, 'workers'],
    ['a Temporal server that stores nothing', { kind: 'unwritten', reason: 'disk full' }, 'Temporal writes'],
  ])('names %s, though the server says that it is ready', async (_what, end, broken) => {
    const checks = await seen({ examine: () => Promise.resolve(examined(end)) });
    expect(checks.filter(({ state }) => state === 'missing').map(({ name }) => name)).toEqual([broken]);
  });

  test('names a Temporal server that does not answer the server once, and examines nothing behind it', async () => {
    const away = [part('temporal', false, 'no Temporal server answers'), part('worker', false, 'the same')];
    const checks = await seen({ parts: away, examine: () => Promise.reject(new Error('never asked')) });
    expect(shown(checks)).toEqual(['door: ok', 'temporal of the server: missing', 'workers: warning']);
  });

  test('that cannot examine says so, with what it does see', async () => {
    const checks = await seen({ parts: [part('temporal', true), part('worker', false, 'no worker polls')] });
    expect(shown(checks)).toEqual([
      ...[
        'door: ok',
        'temporal of the server: ok',
        'worker of the server: missing',
        'extensions: warning',
        'finders: ok',
      ],
    ]);
    expect(checks[3]?.found).toContain('older than this command line');
  });

  test('whose examination fails is broken, with the reason', async () => {
    const checks = await seen({ examine: () => Promise.reject(conveyorError('overloaded', { waiting: 3 })) });
    expect(shown(checks)).toContain('workers: missing');
  });

  test('that refuses the token says what needs none', async () => {
    const checks = await seen({
      token: 'guessed',
      parts: [part('temporal', true), part('worker', false, 'none polls')],
    });
    expect(shown(checks)).toEqual([
      ...['door: missing', 'temporal of the server: ok', 'worker of the server: missing', 'extensions: warning'],
    ]);
    expect(checks[0]?.how).toBe(`conveyor login ${URL}`);
  });

  test('that is ending is the door that is broken', async () => {
    const checks = await seen({ draining: true });
    expect(checks.map(({ name, state, found }) => [name, state, found])).toEqual([
      ['door', 'missing', `the server at ${URL} (CONVEYOR_SERVER): the server is shutting down`],
    ]);
  });
});

describe('a server that does not answer', () => {
  const says =
    (status: number, text: string): ServerFetch =>
    () =>
      Promise.resolve(new Response(text, { status }));
  const late = Object.assign(new Error('late'), { name: 'TimeoutError' });

  test.each<[what: string, fetch: ServerFetch, found: string, how: RegExp]>([
    [
      'since nothing listens there',
      () => Promise.reject(new Error('connect ECONNREFUSED 127.0.0.1:4500')),
      'connect ECONNREFUSED 127.0.0.1:4500',
      /^see whether conveyor server runs there/,
    ],
    ['since it is frozen', () => Promise.reject(late), 'no answer within 10 s', /stopped \(T: kill -CONT/],
    [
      'behind a proxy that does',
      says(502, '<html>502 Bad Gateway</html>'),
      'it answered 502, but not like a Conveyor server',
      /^the proxy there works, but the server behind it is gone, frozen or too slow/,
    ],
    [
      'since another program has its address',
      says(200, '<html>hello</html>'),
      'it answered 200, but not like a Conveyor server',
      /^another program has that address/,
    ],
  ])('%s is broken, and says which it is', async (_what, fetch, found, how) => {
    const [door, workers] = await checksOf(fetch);
    expect(door).toMatchObject({ name: 'door', state: 'missing', how: expect.stringMatching(how) as string });
    expect(door?.found).toBe(`the server at ${URL} (CONVEYOR_SERVER): ${found}`);
    expect(workers).toMatchObject({
      ...{ name: 'workers', state: 'warning', found: 'not checked, nor the services behind them: no server answers' },
      how: expect.stringContaining('--break-glass') as string,
    });
  });

  test('through a proxy for a moment only is not broken', async () => {
    const app = appOf(new FakePipelines(), { reads: 'authenticated' });
    let tries = 0;
    const checks = await checksOf(async (url, request) =>
      (tries += 1) === 1 ? new Response('', { status: 502 }) : app.request(url, request),
    );
    expect(checks[0]).toMatchObject({ name: 'door', state: 'ok' });
  });
});

test('doctor warns of a token that ends within ten minutes', () => {
  const now = Date.parse('2026-11-27T18:00:00.000Z');
  const warned = (end: string | null) => tokenChecks(end, now, URL).map(({ state, found }) => [state, found]);
  expect(warned('2026-11-27T18:09:00.000Z')).toEqual([['warning', 'expires in 9m, at 2026-11-27T18:09:00.000Z']]);
  expect([warned('2026-11-27T18:11:00.000Z'), warned(null)]).toEqual([[], []]);
});

test('doctor does not say of a token that has ended that it ends', () => {
  const now = Date.parse('2026-11-27T18:00:00.000Z');
  expect(tokenChecks('2026-11-27T17:59:40.000Z', now, URL)).toMatchObject([
    {
      state: 'warning',
      found: expect.stringMatching(
        /^expired 20s ago, at 2026-11-27T17:59:40.000Z: servers accept it for another minute/,
      ),
    },
  ]);
});
