import { setTimeout as wait } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { wallClock } from '../../activities/clock';
import { poll } from '../../activities/polling';

test('an answer that takes longer than a worker may be silent does not count as a dead worker', async () => {
  const environment = new MockActivityEnvironment({ heartbeatDetails: 'seen by the worker before' });
  const beats: unknown[] = [];
  environment.on('heartbeat', (details: unknown) => beats.push(details));
  let looks = 0;
  const answer = await environment.run(() =>
    poll({ clock: wallClock, intervalMs: 1, heartbeatTimeoutMs: 60 }, async () => {
      await wait(100);
      looks += 1;
      return looks < 2 ? { seen: 'first' } : { done: 'second' };
    }),
  );
  expect(answer).toBe('second');
  expect(beats.length).toBeGreaterThanOrEqual(4);
  expect([...new Set(beats)]).toEqual(['seen by the worker before', 'first']);
});
