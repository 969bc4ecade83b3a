import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { mergeAction, serverView, type Pending } from '../../client/live';
import type { ActionView } from '../../domain/views';

/** `status` shows of a running action what its service said last, which no workflow knows. */

const VIEW: ActionView = {
  ...{ name: 'profile', type: 'custom', state: 'running', attempt: 1, blockedBy: null, until: null },
  ...{ startedAt: null, endedAt: null, deploy: null, needs: [], progress: null, message: null, pickBy: null },
};
const said = (heartbeat: unknown, failure: string | null = null): Pending => ({
  ...{ id: '5', activity: 'runAction', stage: 'waits', heartbeat, failure, nextMs: null, attempt: 1 },
});
const SEEN = { action: 'profile', progress: 0.4, message: '4 of 10 samples', url: 'http://profiler/runs/7' };

test('its progress, its message and where to read more', () =>
  expect(mergeAction(VIEW, [said({ ...SEEN, action: 'build' }), said(SEEN)])).toMatchObject({
    ...{ progress: 0.4, message: '4 of 10 samples', url: 'http://profiler/runs/7' },
  }));

test('why it cannot be reached, rather than what it said before', () =>
  expect(mergeAction(VIEW, [said(SEEN, 'connection refused')]).message).toBe('connection refused'));

test('nothing of a service that says nothing, of another action, or of one that has ended', () => {
  expect(mergeAction(VIEW, [said({ action: 'profile' })])).toMatchObject({ progress: null, message: null, url: null });
  expect(mergeAction(VIEW, [said({ ...SEEN, action: 'build' }), said(undefined)])).toEqual(VIEW);
  const ended: ActionView = { ...VIEW, state: 'succeeded', message: 'done' };
  expect(mergeAction(ended, [said(SEEN)])).toEqual(ended);
});

describe('what a watch is at', () => {
  const handle = (lastFailure: object) =>
    ({
      describe: async () => ({
        status: { name: 'RUNNING' },
        raw: {
          pendingActivities: [{ activityType: { name: 'watchHealth' }, attempt: 231, lastFailure, heartbeatDetails }],
        },
      }),
    }) as unknown as WorkflowHandle;
  const heartbeatDetails = { payloads: [defaultPayloadConverter.toPayload({ verdict: 'healthy', since: 229 })] };

  test('a watch that waits for its next look is no outage', async () =>
    expect(
      (await serverView(handle({ message: 'healthy', applicationFailureInfo: { type: 'still-waiting' } }))).pending,
    ).toMatchObject([{ failure: null, heartbeat: { verdict: 'healthy' } }]));

  test('one that fails is, and its attempts count from the last look that saw something', async () =>
    expect(
      (await serverView(handle({ message: 'connection refused', applicationFailureInfo: { type: 'unreachable' } })))
        .pending,
    ).toMatchObject([{ failure: 'connection refused', attempt: 2 }]));
});
