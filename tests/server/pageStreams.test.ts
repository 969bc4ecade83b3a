import { Hono } from 'hono';
import { conveyorError } from '../../domain/errors';
import { PAGE_LIMITS } from '../../domain/limits';
import { appOf } from '../builders/serverWorld';
import { pageWorld } from '../builders/pageWorld';
import { hashModel, PageStreams, type StreamEnd, type StreamViewer } from '../../server/pages/streams';

const ALICE: StreamViewer = {
  ...{ name: 'user:alice', untilMs: Infinity },
  ...{ isOver: () => false, mayKnow: () => Promise.resolve(true) },
};
const MINUTE = 60_000;

/** Streams of pages whose models are these, at a time that only the test moves. */
function world() {
  const state = { nowMs: 0, model: 'a', looks: 0, fails: undefined as Error | undefined, draining: false };
  const ends: StreamEnd[] = [];
  const streams = new PageStreams({
    now: () => state.nowMs,
    isDraining: () => state.draining,
    random: () => 0.5,
    tickMs: 2 ** 30,
    onEnd: (why) => ends.push(why),
  });
  const look = () => {
    state.looks += 1;
    return state.fails ? Promise.reject(state.fails) : Promise.resolve(state.model);
  };
  const open = async (viewer: Partial<StreamViewer> = {}, key = '/pipelines/kvstore') => {
    const own = new Hono();
    own.get('*', (c) => streams.open(c, { key, look }, { ...ALICE, ...viewer }, state.model));
    return own.request(key);
  };
  const pass = async (ms: number): Promise<void> => {
    state.nowMs += ms;
    await streams.tick();
  };
  return { state, streams, open, pass, ends };
}

/** The events that a browser has received so far, and whether its stream has ended. */
function follow(answer: Response) {
  const got = { text: '', ended: false };
  const reader = answer.body!.getReader();
  const read = async (): Promise<void> => {
    for (let next = await reader.read(); !next.done; next = await reader.read())
      got.text += Buffer.from(next.value as Uint8Array).toString('utf8');
    got.ended = true;
  };
  void read();
  const settle = () => new Promise<void>((resolve) => void setTimeout(resolve, 5));
  const events = async () => {
    await settle();
    return [...got.text.matchAll(/event: (\w+)\ndata: (.*)\n/g)].map(([, name = '', data = '']) => [
      name,
      JSON.parse(data) as Record<string, unknown>,
    ]);
  };
  return { events, got, settle, leave: () => reader.cancel() };
}

describe('a stream of a page', () => {
  test('says the present model at once, and then each change once', async () => {
    const { state, open, pass, streams, ends } = world();
    const answer = await open();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const browser = follow(answer);
    await pass(1_000);
    await pass(1_000);
    state.model = 'b';
    await pass(1_000);
    await pass(1_000);
    expect(await browser.events()).toEqual([
      ['model', { model: 'a', spreadMs: 5 }],
      ['model', { model: 'b', spreadMs: 5 }],
    ]);
    expect(browser.got.text).toMatch(/^retry: 3000\n\n/);
    await browser.leave();
    expect([streams.counts(), ends]).toEqual([{ streams: 0, pages: 0 }, ['left']]);
  });

  test('shares one look a second with a thousand others, and nothing is looked at once all have left', async () => {
    const { state, open, pass } = world();
    const browsers = await Promise.all(
      Array.from({ length: 1_000 }, async (_, n) => follow(await open({ name: `user:${n}` }))),
    );
    for (let second = 0; second < 3; second += 1) await pass(1_000);
    expect(state.looks).toBe(3);
    state.model = 'b';
    await pass(1_000);
    expect((await browsers[999]!.events()).at(-1)).toEqual(['model', { model: 'b', spreadMs: 5_000 }]);
    await Promise.all(browsers.map(({ leave }) => leave()));
    await pass(1_000);
    expect(state.looks).toBe(4);
  });

  test('is refused beyond the limits of a server and of a viewer, with a time to come back', async () => {
    const { open, streams } = world();
    for (let nth = 0; nth < PAGE_LIMITS.viewerStreams.max; nth += 1) expect((await open()).status).toBe(200);
    const refused = await open();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    while (streams.counts().streams < PAGE_LIMITS.streams.max)
      expect((await open({ name: `user:${streams.counts().streams}` })).status).toBe(200);
    expect((await open({ name: 'user:other' })).status).toBe(503);
  });

  test('ends after some minutes, with its session, and with its server', async () => {
    const { state, open, pass, streams, ends } = world();
    const [long, short] = [follow(await open()), follow(await open({ name: 'user:bob', untilMs: 2 * MINUTE }))];
    let isOver = false;
    const gone = follow(await open({ name: 'user:eve', isOver: () => isOver }));
    isOver = true;
    await pass(1_000);
    await gone.settle();
    expect([gone.got.ended, short.got.ended, streams.counts().streams]).toEqual([true, false, 2]);
    await pass(2 * MINUTE);
    await short.settle();
    expect([short.got.ended, long.got.ended]).toEqual([true, false]);
    await pass(3 * MINUTE);
    await long.settle();
    expect([long.got.ended, streams.counts()]).toEqual([true, { streams: 0, pages: 0 }]);
    const last = follow(await open());
    state.draining = true;
    await pass(1_000);
    await last.settle();
    expect([last.got.ended, (await open()).status]).toEqual([true, 503]);
    expect(ends).toEqual(['session', 'session', 'time', 'draining']);
  });

  test('tells no one of a change whose session does not count any more', async () => {
    const { state, open, pass, ends } = world();
    const eve = follow(await open({ mayKnow: () => Promise.resolve(false) }));
    state.model = 'b';
    await pass(1_000);
    expect(await eve.events()).toEqual([['model', { model: 'a', spreadMs: 5 }]]);
    expect([eve.got.ended, ends]).toEqual([true, ['session']]);
  });

  test('says since when a page is old while Temporal is away, and that it is back', async () => {
    const { state, open, pass } = world();
    const browser = follow(await open());
    await pass(1_000);
    state.fails = conveyorError('temporal-unreachable', { address: 'localhost:7233', detail: 'refused' });
    await pass(1_000);
    await pass(1_000);
    state.fails = undefined;
    await pass(1_000);
    expect((await browser.events()).slice(1)).toEqual([
      ['gone', { since: '1970-01-01T00:00:01.000Z', why: 'Conveyor does not get an answer from Temporal' }],
      ['model', { model: 'a', spreadMs: 5 }],
    ]);
  });

  test('ends once its page is no more', async () => {
    const { state, open, pass, ends } = world();
    const browser = follow(await open());
    state.fails = conveyorError('unknown-pipeline', { pipeline: 'kvstore' });
    await pass(1_000);
    await browser.settle();
    expect([browser.got.ended, ends]).toEqual([true, ['gone']]);
  });

  test('stays open through proxies that close silent connections', async () => {
    const { open, pass } = world();
    const browser = follow(await open());
    await pass(26_000);
    await browser.settle();
    expect(browser.got.text).toMatch(/\n\n:\n\n$/);
  });

  test('ends if its browser reads nothing, so that it takes no memory', async () => {
    const { state, open, pass, streams, ends } = world();
    await open();
    for (let nth = 0; nth < 20; nth += 1) {
      state.model = String(nth);
      await pass(1_000);
    }
    expect([streams.counts().streams, ends]).toEqual([0, ['unread']]);
  });
});

test('many different pages are looked at in turn, not all in one second', async () => {
  const { state, open, pass } = world();
  for (let n = 0; n < 80; n += 1) await open({ name: `user:${n}` }, `/pipelines/p${n}`);
  await pass(1_000);
  expect(state.looks).toBe(50);
  await pass(1_000);
  expect(state.looks).toBe(100);
});

test('the time that a deploy has spent is no change of its page', () => {
  expect(hashModel({ deploy: { spans: { bakeMs: 1 }, state: 'baking' } })).toBe(
    hashModel({ deploy: { spans: { bakeMs: 2 }, state: 'baking' } }),
  );
  expect(hashModel({ deploy: { state: 'baking' } })).not.toBe(hashModel({ deploy: { state: 'reverting' } }));
});

test('the metrics count open streams, and those that ended by the reason', async () => {
  const app = appOf(undefined, pageWorld());
  const count = async (): Promise<string[]> =>
    [...(await (await app.request('/metrics')).text()).matchAll(/^(conveyor_page_streams.*) [1-9]\d*$/gm)].map(
      ([line]) => line,
    );
  expect(await count()).toEqual([]);
  const browser = follow(await app.request('/pipelines/kvstore', { headers: { accept: 'text/event-stream' } }));
  await browser.settle();
  expect(await count()).toEqual(['conveyor_page_streams 1']);
  await browser.leave();
  expect(await count()).toEqual(['conveyor_page_streams_ended_total{why="left"} 1']);
});
