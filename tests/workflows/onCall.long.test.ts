import type { CloudEvent } from '../../domain/notify/cloudEvents';
import type { Notice } from '../../domain/notify/notice';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { ERRORS } from '../builders/deployPipeline';
import { CALM } from './flows';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

const DEPLOY = 'deploy/kvstore/1/deploy/1';

let world: VirtualWorld;
/** The notices of each receiver, in order: `pager on-call`. */
let got: string[];
let times: number[];
let notices: Notice[];
/** The status with which a receiver answers, instead of 204. */
let down: Record<string, number>;
let schedule: () => Response;

beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
  [got, times, notices, down] = [[], [], [], {}];
  schedule = () => Response.json({ onCall: 'group:storage' });
  const simulated = world.simulator.app.fetch;
  world.simulator.app.fetch = async (request, ...rest) => {
    const { hostname, pathname } = new URL(request.url);
    if (hostname === 'rota') return schedule();
    if (hostname !== 'receivers') return simulated(request, ...rest);
    const name = pathname.slice(1);
    const status = down[name] ?? 204;
    if (status === 204) {
      const event = (await request.json()) as CloudEvent;
      notices.push(event.data as Notice);
      got.push(`${name} ${(event.data as Notice).on}`);
      times.push(await world.now());
    }
    return new Response(null, { status });
  };
});
afterEach(() => world.close());

const PAUSES = { healthInterval: '1m', healthChecks: [{ ...ERRORS, onUnhealthy: 'pause' as const }] };

/** Releases a version with errors, whose deploy pauses, or reverts, by itself. */
async function release(deploy: Parameters<typeof kvstore>[0], onCall: PipelineSource['onCall']): Promise<void> {
  await world.describeVersion('kv:2', { errorRatio: 0.2 });
  await world.apply(kvstore(deploy, { onCall }), CALM);
  await world.release('kvstore', 'kv:2');
}

const paused = () => world.reaches('kvstore', 1, (deploy) => deploy.paused?.by === 'health');
const page = async () => (await world.releaseStatus('kvstore', 1)).pages?.[0];

describe('a deploy that pauses by itself', () => {
  test('pages the person on call after the time that people have to act, and not before', async () => {
    await release(PAUSES, { page: 'pager', after: '30m' });
    await paused();
    const { dueAt = '', since = '' } = (await page()) ?? {};
    expect(Date.parse(dueAt) - Date.parse(since)).toBe(30 * MINUTE);
    await world.sleep(20 * MINUTE);
    expect([got, (await page())?.state]).toEqual([[], 'due']);
    await world.until('the pager has it', () => Promise.resolve(got.length === 1));
    expect(times[0]).toBeGreaterThanOrEqual(Date.parse(dueAt));
    expect(times[0]).toBeLessThan(Date.parse(dueAt) + 2 * MINUTE);
    expect(notices[0]).toMatchObject({ on: 'on-call', deploy: 'kvstore/1/deploy', release: 'kvstore/1' });
    expect(await page()).toMatchObject({ state: 'paged', to: 'pager', note: null, answeredBy: null });
    await world.command(DEPLOY, 'cancel');
    await world.ended('kvstore', 1);
    await world.until('the incident is over', () => Promise.resolve(got.length === 3));
    expect(got).toEqual(['pager on-call', 'pager answered', 'pager settled']);
    expect(await page()).toMatchObject({ state: 'over', answeredBy: 'user:alice' });
  });

  test('pages no person if one acts in time, and nothing is resolved that was not opened', async () => {
    await release(PAUSES, { page: 'pager', after: '30m' });
    await paused();
    await world.sleep(10 * MINUTE);
    await world.command(DEPLOY, 'pause', { reason: 'looking at it' });
    await world.sleep(2 * HOUR);
    expect(await page()).toMatchObject({ state: 'over', answeredBy: 'user:alice', to: null });
    await world.command(DEPLOY, 'cancel');
    await world.ended('kvstore', 1);
    expect(got).toEqual([]);
  });

  test('is acknowledged in the service that paged, with the name of the person in the status', async () => {
    await release(PAUSES, { page: 'pager', after: '5m' });
    await world.until('the pager has it', () => Promise.resolve(got.length === 1));
    await world.client.workflow
      .getHandle('release/kvstore/1')
      .signal('page-answered', { action: 'deploy', by: 'Alice in PagerDuty', atMs: await world.now() });
    await world.until('it is answered', async () => (await page())?.answeredBy === 'Alice in PagerDuty');
    await world.command(DEPLOY, 'cancel');
    await world.ended('kvstore', 1);
    expect((await world.releaseStatus('kvstore', 1)).timeline.map(({ text }) => text)).toContain(
      'the page about kvstore/1/deploy is answered by Alice in PagerDuty',
    );
  });
});

describe('a deploy that reverts by itself', () => {
  test('pages, reverts as fast as without a page, and its release ends while the page waits for an answer', async () => {
    await release({ healthInterval: '1m' }, { page: 'group:storage', after: '10m' });
    const { state, endedAt } = await world.ended('kvstore', 1);
    expect(state).toBe('failed');
    await world.until('the pager has it', () => Promise.resolve(got.length === 1));
    expect(got).toEqual(['pager on-call']);
    expect(times[0]).toBeGreaterThan(Date.parse(endedAt ?? ''));
    expect(notices[0]?.reason).toMatch(/^it reverted by itself, and no person has acted on it: /);
    await world.sleep(2 * HOUR);
    expect((await world.client.workflow.getHandle('release/kvstore/1').describe()).status.name).toBe('COMPLETED');
  });

  test('reverts all the same while every receiver is down, and the status says that no person was paged', async () => {
    down = { pager: 503, owner: 503 };
    await release({ healthInterval: '1m' }, { page: 'pager', after: '0s' });
    expect((await world.ended('kvstore', 1)).state).toBe('failed');
    expect((await world.deployStatus('kvstore', 1)).outcome).toBe('reverted');
    await world.until('it gives up', async () => (await page())?.state === 'failed');
    expect((await page())?.note).toMatch(/answered with status 503/);
    expect(got).toEqual([]);
  });
});

describe('the schedule of a pipeline', () => {
  test('is read when a person is paged, not before', async () => {
    await release(PAUSES, { page: 'http://rota/storage', after: '30m' });
    await paused();
    schedule = () => Response.json({ onCall: 'user:alice' });
    await world.until('the owner has it', () => Promise.resolve(got.length === 1));
    expect(got).toEqual(['owner on-call']);
    await world.command(DEPLOY, 'cancel');
    await world.ended('kvstore', 1);
  });

  test.each<[string, () => Response, RegExp]>([
    ['is gone', () => new Response(null, { status: 404 }), /the schedule answered with status 404/],
    ['moved elsewhere', () => Response.redirect('http://evil.example', 302), /answered with status 302/],
    ['names no person', () => Response.json({ onCall: 'https://evil.example' }), /the schedule names no person/],
    [
      'names a stranger',
      () => Response.json({ onCall: 'user:eve' }),
      /no receiver for user:eve, whom the schedule names/,
    ],
    ['is not JSON', () => new Response('<html>'), /the schedule names no person/],
  ])('that %s is replaced by an owner, and the status says why', async (_title, answer, why) => {
    schedule = answer;
    await release(PAUSES, { page: 'http://rota/storage', after: '0s' });
    await world.until('the owner has it', () => Promise.resolve(got.length === 1));
    expect(got).toEqual(['owner on-call']);
    expect((await page())?.note).toMatch(why);
    await world.command(DEPLOY, 'cancel');
    await world.ended('kvstore', 1);
  });
});
