import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { wallClock } from '../../activities/clock';
import { createPageActivities } from '../../activities/page';
import type { Notice } from '../../domain/notify/notice';
import { parseRegistry } from '../../settings/registry';

const EVENT: Notice = {
  ...{ id: 'deploy/kvstore/12/deploy/1/page/1/on-call', on: 'on-call', at: '2026-11-23T17:00:00.000Z' },
  ...{ pipeline: 'kvstore', release: 'kvstore/12', deploy: 'kvstore/12/deploy', phase: null, pushType: 'twine' },
  ...{ artifacts: [], reason: 'it paused by itself, and no person has acted on it: errors', actor: null },
};
const PAGER_KEY = 'a key of PagerDuty, of 32 letters';

let got: { readonly host: string; readonly path: string; readonly body: unknown }[];
let answers: Record<string, () => Response | Promise<Response>>;
beforeEach(() => ([got, answers] = [[], {}]));

const fetch = async (request: Request): Promise<Response> => {
  const { host, pathname } = new URL(request.url);
  const answer = answers[host]?.();
  if (request.method === 'POST') got.push({ host, path: pathname, body: await request.json() });
  return answer ?? new Response(null, { status: 202 });
};

const RECEIVERS = [
  { name: 'pager', format: 'pagerduty', keyEnv: 'PAGER', url: 'https://pager.test/v2/enqueue', for: ['group:storage'] },
  { name: 'genie', format: 'opsgenie', keyEnv: 'GENIE', url: 'https://genie.test/v2/alerts', for: ['user:alice'] },
  { name: 'unset', format: 'pagerduty', keyEnv: 'UNSET', for: ['user:bob'] },
];

function page(request: { page?: string; to?: string; owners?: string[]; event?: Notice }, attempt = 1) {
  const env = { PAGER: PAGER_KEY, GENIE: 'a key of Opsgenie, of 32 letters' };
  const { notifications } = parseRegistry({ notifications: { receivers: RECEIVERS } }, env);
  const activity = new MockActivityEnvironment({ attempt }, { logger: new DefaultLogger('ERROR') });
  const { page: send } = createPageActivities({ clock: wallClock, registry: { notifications }, fetch });
  return activity.run(send, { owners: ['user:carol', 'user:alice'], event: EVENT, ...request });
}

describe('the person on call is paged', () => {
  test.each<[string, string]>([
    ['by the name of a receiver', 'pager'],
    ['by their group', 'group:storage'],
  ])('%s', async (_title, who) => {
    expect(await page({ page: who })).toEqual({ to: 'pager', note: null });
    expect(got).toMatchObject([
      {
        host: 'pager.test',
        body: { event_action: 'trigger', dedup_key: 'conveyor/kvstore/12/deploy', payload: { severity: 'critical' } },
      },
    ]);
  });

  test('by a schedule that is read at that moment', async () => {
    answers = { 'rota.test': () => Response.json({ onCall: 'group:storage' }) };
    expect(await page({ page: 'http://rota.test/storage' })).toEqual({ to: 'pager', note: null });
  });

  test('and the same receiver gets the answer and the end, for the same incident', async () => {
    for (const on of ['answered', 'settled'] as const) await page({ to: 'genie', event: { ...EVENT, on } });
    expect(got.map(({ path }) => path)).toEqual([
      '/v2/alerts/conveyor%2Fkvstore%2F12%2Fdeploy/acknowledge',
      '/v2/alerts/conveyor%2Fkvstore%2F12%2Fdeploy/close',
    ]);
  });
});

describe('an owner is paged instead, and the note says why', () => {
  test.each<[string, string, (() => Response | Promise<Response>) | undefined, RegExp]>([
    [
      'a schedule that is gone',
      'http://rota.test/',
      () => new Response(null, { status: 410 }),
      /answered with status 410/,
    ],
    [
      'a schedule that does not answer',
      'http://rota.test/',
      () => Promise.reject(new TypeError('x')),
      /does not answer/,
    ],
    ['a schedule elsewhere', 'http://rota.test/', () => Response.redirect('http://evil.test/', 302), /status 302/],
    [
      'a schedule that lies',
      'http://rota.test/',
      () => Response.json({ onCall: 'http://evil.test/' }),
      /names no person/,
    ],
    [
      'a schedule of a stranger',
      'http://rota.test/',
      () => Response.json({ onCall: 'user:eve' }),
      /no receiver for user:eve/,
    ],
    ['a schedule that never ends', 'http://rota.test/', () => new Response('x'.repeat(100_000)), /names no person/],
    ['an unknown receiver', 'nowhere', undefined, /no receiver of the name nowhere/],
    ['an unknown group', 'group:nowhere', undefined, /no receiver for group:nowhere/],
    ['a receiver whose key is unset', 'user:bob', undefined, /variable of its key is not set/],
    ['a receiver that refuses', 'pager', undefined, /answered with status 400/],
  ])('for %s', async (title, who, schedule, why) => {
    if (schedule) answers['rota.test'] = schedule;
    if (title.endsWith('refuses')) answers['pager.test'] = () => new Response(null, { status: 400 });
    const sent = await page({ page: who });
    expect(sent).toEqual({ to: 'genie', note: expect.stringMatching(why) as string });
    expect(got.at(-1)?.host).toBe('genie.test');
    expect(JSON.stringify(sent)).not.toMatch(/evil\.test|rota\.test/);
  });

  test('for a receiver that has not answered three times, and not before', async () => {
    answers['pager.test'] = () => new Response(null, { status: 503 });
    await expect(page({ page: 'pager' }, 2)).rejects.toMatchObject({ type: 'notification-undelivered' });
    expect(await page({ page: 'pager' }, 3)).toMatchObject({
      to: 'genie',
      note: expect.stringMatching(/503/) as string,
    });
  });

  test('for a receiver that wants a wait, only after three tries', async () => {
    answers['pager.test'] = () => new Response(null, { status: 429, headers: { 'retry-after': '30' } });
    await expect(page({ page: 'pager' }, 1)).rejects.toMatchObject({ nextRetryDelay: 30_000, nonRetryable: false });
  });
});

test('where no owner has a receiver, the refusal says both, and no address of a schedule', async () => {
  answers['rota.test'] = () => new Response(null, { status: 404 });
  const failure = await page({ page: 'http://rota.test/secret', owners: ['user:carol'] }).catch(
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({ type: 'notification-refused', nonRetryable: true });
  expect(String(failure)).toMatch(/schedule answered with status 404, and no owner has a receiver/);
  expect(String(failure)).not.toContain('secret');
});
