import { setTimeout as wait } from 'node:timers/promises';
import { ActivityCancellationDetails } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createActionActivities, type ActionRun } from '../../activities/actionService';
import { wallClock } from '../../activities/clock';
import { viaApp } from '../../sdk/client';
import { parseRegistry } from '../../settings/registry';
import { ExtensionError, serveActionService } from '../../sdk/server';
import { inlineSnapshots } from './inlineSnapshots';

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

/** So slowly that a look is under way when it is cancelled. */
const slowly = () => wait(200, { state: 'running' as const });

const runAction = (
  service: Parameters<typeof serveActionService>[1],
  config: object = {},
  env: Record<string, string> = {},
) => {
  const app = serveActionService('slow', service);
  const extensions = [{ name: 'slow', kind: 'action-service', url: 'http://slow' }];
  const registry = parseRegistry({ extensions, ...config }, env);
  const activities = createActionActivities({
    registry,
    clock: wallClock,
    fetch: viaApp(app),
    snapshots: inlineSnapshots,
  });
  const environment = new MockActivityEnvironment();
  return { environment, ended: environment.run(() => activities.runAction(RUN)).catch((error: unknown) => error) };
};

test('an action that is cancelled while its service is still starting it does not continue there', async () => {
  const calls: string[] = [];
  const { environment, ended } = runAction({
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
  await wait(20);
  environment.cancel();
  expect(await ended).toMatchObject({ name: 'CancelledFailure', details: [{ stopped: true }] });
  expect(calls).toEqual(['started', 'cancelled']);
});

test('an action whose service does not say that it stopped it ends cancelled all the same, and says so', async () => {
  const { environment, ended } = runAction({
    startRun: ({ runId }) => ({ runId }),
    getRunProgress: slowly,
    cancelRun: () => {
      throw new ExtensionError('busy', 'not now', { retryable: true });
    },
  });
  await wait(20);
  environment.cancel();
  expect(await ended).toMatchObject({ name: 'CancelledFailure', details: [{ stopped: false }] });
});

test('a worker that shuts down does not stop the runs that it follows', async () => {
  const cancelRun = jest.fn(() => ({}));
  const { environment, ended } = runAction({
    startRun: ({ runId }) => ({ runId }),
    getRunProgress: slowly,
    cancelRun,
  });
  await wait(20);
  environment.cancel('WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true }));
  expect(await ended).toMatchObject({ message: 'WORKER_SHUTDOWN' });
  expect(cancelRun).not.toHaveBeenCalled();
});

describe('the input of a service for a run', () => {
  const given = async (config: object, env: Record<string, string> = {}) => {
    const calls: { readonly method: string; readonly callback?: unknown; readonly trace: string | undefined }[] = [];
    const traceOf = (header: string | null): string | undefined => header?.split('-')[1];
    const service: Parameters<typeof serveActionService>[1] = {
      startRun: ({ runId, callback }, { traceparent }) => {
        calls.push({ method: 'startRun', callback, trace: traceOf(traceparent) });
        return { runId };
      },
      getRunProgress: (_request, { traceparent }) => {
        calls.push({ method: 'getRunProgress', trace: traceOf(traceparent) });
        return { state: 'succeeded', url: 'http://slow/7' };
      },
      cancelRun: () => ({}),
    };
    return { end: await runAction(service, config, env).ended, calls };
  };
  const callbacks = { url: 'http://conveyor:4500', secretEnv: 'S' };

  test('is where to say that it has ended, only where the platform takes that', async () => {
    const callback = {
      url: 'http://conveyor:4500/v1/runs/shop/1/test/1/ended',
      key: expect.stringMatching(/^[0-9a-f]{64}$/),
    };
    expect((await given({ callbacks }, { S: 'a secret that is long enough' })).calls[0]).toMatchObject({ callback });
    expect((await given({ callbacks })).calls[0]).toMatchObject({ callback: undefined });
    expect((await given({})).calls[0]).toMatchObject({ callback: undefined });
  });

  test('is one trace for all of its calls; the page that it names stays when it has ended', async () => {
    const { calls, end } = await given({});
    expect(calls.map(({ method }) => method)).toEqual(['startRun', 'getRunProgress']);
    expect([calls[0]?.trace, calls[0]?.trace]).toEqual([calls[1]?.trace, expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect(end).toMatchObject({ succeeded: true, url: 'http://slow/7' });
  });
});
