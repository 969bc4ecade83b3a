import { setTimeout as wait } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { look, type ActivityLookResult } from '../../activities/look';

type Seen = { readonly counts: number };

/** One attempt at 12:00:00 whose clock continues by `tookMs` while it asks. */
async function lookOnce(
  ask: (before: Seen | undefined, beats: readonly unknown[]) => Promise<ActivityLookResult<string, Seen>>,
  info: object = {},
  tookMs = 0,
) {
  const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
  const beats: unknown[] = [];
  environment.on('heartbeat', (details: unknown) => beats.push(details));
  const times = [0, tookMs];
  const clock = {
    now: () => Promise.resolve(times.shift() ?? tookMs),
    sleep: () => Promise.reject(new Error('it waits')),
  };
  const answer = environment.run(() =>
    look<string, Seen>({ clock, intervalMs: 60_000, heartbeatTimeoutMs: 60 }, (_now, before) => ask(before, beats)),
  );
  const end = await (answer as Promise<unknown>).catch((error: unknown) => error);
  return { end, beats };
}

const seen = (counts: number, waitMs?: number) => async (): Promise<ActivityLookResult<string, Seen>> => ({
  seen: { counts },
  message: 'not there yet',
  ...(waitMs === undefined ? {} : { waitMs }),
});
const broken = (): Promise<never> => Promise.reject(ApplicationFailure.retryable('connection refused', 'unreachable'));

test('a look that has no answer waits nowhere: it heartbeats what it saw and says when the next one is due', async () => {
  const { end, beats } = await lookOnce(seen(3), { attempt: 7 }, 50);
  expect(end).toMatchObject({ type: 'still-waiting', nonRetryable: false, nextRetryDelay: 59_950 });
  expect(beats).toEqual([{ counts: 3, since: 7 }]);
});

test('the next one may be due earlier than the interval, and at the latest at once', async () => {
  expect((await lookOnce(seen(3, 1_000))).end).toMatchObject({ nextRetryDelay: 1_000 });
  expect((await lookOnce(seen(3, 1_000), {}, 5_000)).end).toMatchObject({ nextRetryDelay: 1 });
});

test('a look continues from what the one before saw', async () => {
  const { end } = await lookOnce(async (before) => ({ done: `${before?.counts}` }), {
    heartbeatDetails: { counts: 3, since: 1 },
  });
  expect(end).toBe('3');
});

test('an answer that takes longer than a worker may be silent does not count as a dead worker', async () => {
  const before = { counts: 3, since: 1 };
  // A machine that is busy beats late: the answer comes after the second beat, whenever that is.
  const slowly = async (_: Seen | undefined, beats: readonly unknown[]): Promise<ActivityLookResult<string, Seen>> => {
    await wait(100);
    while (beats.length < 2) await wait(10);
    return { done: 'there it is' };
  };
  const { end, beats } = await lookOnce(slowly, { heartbeatDetails: before });
  expect(end).toBe('there it is');
  expect(beats.length).toBeGreaterThanOrEqual(2);
  expect(beats).toContainEqual(before);
});

test.each([
  [1, 'unreachable', 1_000],
  [4, 'unreachable', 8_000],
  [5, 'keeps-failing', 16_000],
  [50, 'keeps-failing', 30_000],
])('after %i failures in a row it is %s, and tried again in %i ms', async (failures, type, nextRetryDelay) => {
  const { end } = await lookOnce(broken, { attempt: failures });
  expect(end).toMatchObject({ message: 'connection refused', type, nextRetryDelay });
});

test('good looks are no failures, however many there were before', async () => {
  const { end } = await lookOnce(broken, { attempt: 231, heartbeatDetails: { counts: 3, since: 230 } });
  expect(end).toMatchObject({ type: 'unreachable', nextRetryDelay: 1_000 });
});

describe('after the server was asked to look at once, which counts attempts anew,', () => {
  const details = { counts: 3, since: 4 };

  test('looks that fail are counted from then on, and tried again later and later', async () => {
    const first = await lookOnce(broken, { attempt: 1, heartbeatDetails: details });
    expect(first.end).toMatchObject({ type: 'unreachable', nextRetryDelay: 1_000 });
    const kept = first.beats.at(-1) as object;
    expect(kept).toEqual({ counts: 3, since: 0 });
    const later = async (attempt: number) => (await lookOnce(broken, { attempt, heartbeatDetails: kept })).end;
    expect(await later(4)).toMatchObject({ type: 'unreachable', nextRetryDelay: 8_000 });
    expect(await later(5)).toMatchObject({ type: 'keeps-failing', nextRetryDelay: 16_000 });
  });

  test('a look continues from what the one before saw', async () => {
    const { end, beats } = await lookOnce(seen(5), { attempt: 1, heartbeatDetails: details });
    expect(end).toMatchObject({ type: 'still-waiting' });
    expect(beats).toEqual([{ counts: 5, since: 1 }]);
  });
});

test('an error that no other look can fix is reported at once', async () => {
  const refused = ApplicationFailure.nonRetryable('no such update', 'refused');
  expect((await lookOnce(() => Promise.reject(refused))).end).toBe(refused);
});
