import { Tailer } from '../../configerator/tailer/tailer';
import type { TailResult } from '../../configerator/tailer/tail';
import { Sleeps } from './sleeps';

/** A tailer whose looks are these, one after the other; a text: why it fails. The last one lasts. */
async function started(...looks: readonly (number | string)[]) {
  const sleeps = new Sleeps();
  const log: string[] = [];
  let at = 0;
  const step = async (): Promise<TailResult> => {
    const look = looks[Math.min(at, looks.length - 1)] ?? 0;
    at += 1;
    if (typeof look === 'string') throw new Error(look);
    return { applied: look, commit: 'c' };
  };
  const made = new Tailer('flags', { step, now: () => at, sleep: sleeps.sleep, log: (line) => log.push(line) });
  const ending = new AbortController();
  const sleeping = sleeps.next();
  const running = made.run(ending.signal);
  await sleeping;
  const end = async (): Promise<void> => {
    ending.abort();
    await running;
  };
  return { made, sleeps, log, end, looked: () => at };
}

test('it looks until nothing is left, and again after five seconds', async () => {
  const { made, sleeps, end, looked } = await started(100, 3, 0, 1, 0);
  expect(made.state).toEqual({ applied: 103, mended: 0, failures: 0, trouble: null, caughtUpAtMs: 3 });
  expect(sleeps.waiting.map(({ ms }) => ms)).toEqual([5_000]);
  await sleeps.pass();
  expect(made.state).toMatchObject({ applied: 104, caughtUpAtMs: 5 });
  await end();
  expect(looked()).toBe(5);
});

test('a landing wakes it, even during a look', async () => {
  const { made, sleeps, end, looked } = await started(0);
  const next = sleeps.next();
  made.wake();
  made.wake();
  await next;
  expect(looked()).toBe(2);
  await end();
});

test('a store that is gone is logged once, tried again later each time up to half a minute, and logged when it is back', async () => {
  const gone = Array<string>(9).fill('etcd does not answer');
  const { made, sleeps, log, end } = await started(...gone, 2, 0);
  const waits: (number | undefined)[] = [];
  for (let n = 0; n < 9; n += 1) {
    waits.push(sleeps.waiting[0]?.ms);
    if (n < 8) await sleeps.pass();
  }
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(made.state).toEqual({
    applied: 0,
    mended: 0,
    failures: 9,
    trouble: 'etcd does not answer',
    caughtUpAtMs: null,
  });
  await sleeps.pass();
  expect(made.state).toMatchObject({ applied: 2, failures: 9, trouble: null });
  expect(log).toEqual([
    'flags: the store does not get the branch: etcd does not answer',
    'flags: the store has the branch again',
  ]);
  await end();
});
