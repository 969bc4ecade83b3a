import { mergeAction, type Pending } from '../../client/live';
import type { ActionView } from '../../domain/views';

/** `status` shows of a running action what its service said last, which no workflow knows. */

const VIEW: ActionView = {
  ...{ name: 'profile', type: 'custom', state: 'running', attempt: 1, blockedBy: null, until: null },
  ...{ startedAt: null, endedAt: null, deploy: null, needs: [], progress: null, message: null, pickBy: null },
};
const said = (heartbeat: unknown, failure: string | null = null): Pending => ({
  ...{ activity: 'runAction', heartbeat, failure, attempt: 1 },
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
