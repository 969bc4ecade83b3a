import { setTimeout as wait } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createActionActivities, type ActionRun } from '../../activities/actionService';
import { wallClock } from '../../activities/clock';
import { viaApp } from '../../sdk/client';
import { parseRegistry } from '../../sdk/registry';
import { serveActionService } from '../../sdk/server';

const RUN: ActionRun = {
  service: 'slow',
  runId: 'shop/1/test/1',
  pipeline: 'shop',
  release: 1,
  action: 'test',
  attempt: 1,
  actor: 'user:alice',
  inputs: [],
  with: {},
  intervalMs: 10,
  heartbeatTimeoutMs: 1_000,
};

test('an action that is cancelled while its service is still starting it does not go on there', async () => {
  const calls: string[] = [];
  const service = serveActionService('slow', {
    startRun: async ({ runId }) => {
      await wait(100);
      calls.push('started');
      return { runId };
    },
    getRunProgress: () => ({ state: 'running' }),
    cancelRun: () => {
      calls.push('cancelled');
      return {};
    },
  });
  const registry = parseRegistry({ extensions: [{ name: 'slow', kind: 'action-service', url: 'http://slow' }] }, {});
  const { runAction } = createActionActivities({ registry, clock: wallClock, fetch: viaApp(service) });
  const environment = new MockActivityEnvironment();
  const running = environment.run(() => runAction(RUN)).catch(() => 'ended');
  await wait(20);
  environment.cancel();
  expect(await running).toBe('ended');
  expect(calls).toEqual(['started', 'cancelled']);
});
