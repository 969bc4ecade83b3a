import type { LookNow } from '../../client/api';
import { conveyorError } from '../../domain/errors';
import { createRunCallback } from '../../settings/callbacks';
import { RunEndings } from '../../server/runEndings';
import { appOf, FakePipelines, TOKEN } from '../builders/serverWorld';

const CALLBACKS = { url: 'http://conveyor', secrets: ['the secret of callbacks'] };
const RUN = 'kvstore/12/build/1';
const { key: KEY } = createRunCallback(CALLBACKS, RUN);

describe('news that a run of an action service has ended', () => {
  const front = (answer: () => Promise<LookNow> = () => Promise.resolve('looks')) => {
    const looks: string[] = [];
    const lookNow = (run: string): Promise<LookNow> => {
      looks.push(run);
      return answer();
    };
    const app = appOf(undefined, { callbacks: CALLBACKS, client: { ...new FakePipelines().client, lookNow } });
    const send = (run: string, key: string | null, init: RequestInit = {}) =>
      app.request(`/v1/runs/${run}/ended`, {
        method: 'POST',
        ...init,
        headers: key === null ? {} : { authorization: `Bearer ${key}` },
      });
    return { looks, send };
  };

  test('with the key of the run has the run polled at once', async () => {
    const { looks, send } = front();
    expect((await send(RUN, KEY)).status).toBe(204);
    expect(looks).toEqual([RUN]);
  });

  test.each([
    ['no key', RUN, null],
    ['a forged key', RUN, KEY.replace(/^./, (c) => (c === '0' ? '1' : '0'))],
    ['the key of another run', 'kvstore/12/build/2', KEY],
    ['a token of the API', RUN, TOKEN],
  ])('with %s is refused and changes nothing', async (_what, run, key) => {
    const { looks, send } = front();
    const response = await send(run, key);
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('wrong-key')]);
    expect(looks).toEqual([]);
  });

  test('twice makes one look now, and says no other thing', async () => {
    const { looks, send } = front();
    expect([(await send(RUN, KEY)).status, (await send(RUN, KEY)).status]).toEqual([204, 204]);
    expect(looks).toEqual([RUN]);
  });

  test('that come during the look at it make one more, since they may be the first that are true', async () => {
    const looks: (() => void)[] = [];
    const lookNow = () => new Promise<LookNow>((resolve) => looks.push(() => resolve('looks')));
    const ended = new RunEndings(
      lookNow,
      () => undefined,
      () => Promise.resolve(),
    );
    const first = ended.recordRunEnd(RUN);
    await ended.recordRunEnd(RUN);
    looks[0]?.();
    await first;
    await new Promise((resolve) => setImmediate(resolve));
    expect(looks).toHaveLength(2);
    looks[1]?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(looks).toHaveLength(2);
  });

  test('with whatever body is the same news: no body is read', async () => {
    const { looks, send } = front();
    expect((await send(RUN, KEY, { body: 'x'.repeat(3_000_000) })).status).toBe(204);
    expect(looks).toEqual([RUN]);
  });

  test('may come again while Temporal is out of reach', async () => {
    const answers = [() => Promise.reject(conveyorError('temporal-unreachable', { address: 'a', detail: 'd' }))];
    const { looks, send } = front(() => answers.shift()?.() ?? Promise.resolve('looks'));
    const away = await send(RUN, KEY);
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await send(RUN, KEY)).status).toBe(204);
    expect(looks).toEqual([RUN, RUN]);
  });

  test('is not taken by a server that has no secret for it', async () => {
    const response = await appOf().request(`/v1/runs/${RUN}/ended`, { method: 'POST' });
    expect(response.status).toBe(404);
  });
});

describe('looks that news ask for', () => {
  const given = (...answers: readonly LookNow[]) => {
    const log: string[] = [];
    const looks: string[] = [];
    const waits: { readonly ms: number; readonly pass: () => void }[] = [];
    const ended = new RunEndings(
      (run) => {
        looks.push(run);
        return Promise.resolve(answers[looks.length - 1] ?? 'looks');
      },
      (line) => log.push(line),
      (ms) => new Promise((pass) => waits.push({ ms, pass })),
    );
    /** Lets what waits longest continue; how long it waited. */
    const passed = async (): Promise<number | undefined> => {
      const next = waits.shift();
      next?.pass();
      await new Promise(setImmediate);
      return next?.ms;
    };
    return { ended, log, looks, passed };
  };

  test('are one in a second for a run; the last news is not lost', async () => {
    const { ended, looks, passed } = given();
    for (let times = 0; times < 5; times += 1) await ended.recordRunEnd('a/1/b/1');
    await ended.recordRunEnd('a/1/c/1');
    expect(looks).toEqual(['a/1/b/1', 'a/1/c/1']);
    expect([await passed(), await passed()]).toEqual([1_000, 1_000]);
    expect(looks).toEqual(['a/1/b/1', 'a/1/c/1', 'a/1/b/1']);
    expect([await passed(), await passed()]).toEqual([1_000, undefined]);
    await ended.recordRunEnd('a/1/b/1');
    expect(looks).toHaveLength(4);
  });

  test('wait for one that is under way, which may have asked too early, but not for long', async () => {
    const busy = Array<LookNow>(20).fill('busy');
    const { ended, looks, passed } = given(...busy);
    let isOver = false;
    const said = ended.recordRunEnd('a/1/b/1').then(() => (isOver = true));
    const waited: number[] = [];
    await new Promise(setImmediate);
    while (!isOver) waited.push((await passed()) ?? 0);
    await said;
    expect(looks).toHaveLength(8);
    expect(waited.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(5_000);
  });

  test('are given up, with one line in the log, where the Temporal server has no such call', async () => {
    const { ended, log, looks } = given('unsupported');
    await ended.recordRunEnd('a/1/b/1');
    await ended.recordRunEnd('a/1/c/1');
    expect([looks.length, log]).toEqual([1, [expect.stringContaining('cannot reset an activity')]]);
  });
});
