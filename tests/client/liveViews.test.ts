import type { WorkflowHandle } from '@temporalio/client';
import { defaultDataConverter, defaultPayloadConverter } from '@temporalio/common';
import { renderDeploy } from '../../render/deploy';
import { logLines } from '../../render/log';
import { mergeAction, mergeDeploy, serverView, withNow, type PendingActivityView } from '../../client/live';
import type { ActionView, Pause } from '../../domain/views';
import { deploy, NOW } from '../builders/cliSamples';

/** `status` shows of a running action what its service said last, which no workflow knows. */

const VIEW: ActionView = {
  ...{ name: 'profile', type: 'custom', state: 'running', attempt: 1, blockedBy: null, until: null },
  ...{ startedAt: null, endedAt: null, deploy: null, needs: [], progress: null, message: null, pickBy: null },
};
const said = (heartbeat: unknown, failure: string | null = null): PendingActivityView => ({
  ...{ id: '5', activity: 'runAction', stage: 'waits', heartbeat, failure, nextMs: null, attempt: 1, atMs: null },
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

describe('the state of a watch', () => {
  const handle = (lastFailure: object) =>
    ({
      client: { options: { namespace: 'default', loadedDataConverter: defaultDataConverter } },
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

describe('a pause for a dependency, of which the reason is of minutes ago,', () => {
  const iso = (atMs: number): string => new Date(atMs).toISOString();
  const paused: Pause = {
    ...{ by: 'dependency', actor: null, at: iso(NOW - 240_000) },
    reason: 'health checks do not work: connect ECONNREFUSED 127.0.0.1:4400',
  };
  const ROW = { unit: 'web-x', check: 'errors', observed: null, reference: null, threshold: null, samples: 0 };
  const watch = (verdict: string, reason: string, failure: string | null = null): PendingActivityView => ({
    ...said({ verdict, rows: [{ ...ROW, verdict, reason }] }, failure),
    ...{ activity: 'watchHealth', atMs: NOW - 10_000, nextMs: NOW + 20_000 },
  });
  const shown = (pending: PendingActivityView): string =>
    renderDeploy(
      { ...mergeDeploy(deploy({ state: 'baking', outcome: null, endedAt: null, paused }), [pending]), webUi: '' },
      { width: 400, color: false, now: NOW, timeZone: 'UTC' },
    );

  test('says that what it waits for answers again, since when, and what happens next', () => {
    const text = shown(watch('inconclusive', 'only 1 of 3 samples'));
    expect(text).toContain(`‖ by dependency 4m ago: ${paused.reason}`);
    expect(text).toContain(
      'it answers again (10s ago: inconclusive: only 1 of 3 samples); next try in 20s; the deploy continues by itself once it is healthy',
    );
  });

  test('says how the last try ended and when the next is while it does not, also where only its data source is gone', () => {
    const [how, next] = [
      'still unavailable (10s ago: ',
      '); next try in 20s; the deploy continues by itself once it answers',
    ];
    const gone = shown(watch('healthy', '', 'connect ECONNREFUSED'));
    expect(gone).toContain(`${how}connect ECONNREFUSED${next}`);
    const errored = shown(watch('errored', 'Prometheus does not answer'));
    expect(errored).toContain(`${how}errored: Prometheus does not answer${next}`);
  });

  test('stays as it is while the state is unknown, and if only a person ends it', () => {
    const refused = { ...paused, until: 'resumed' } as const;
    expect(withNow(paused, [said(undefined)])).toEqual(paused);
    expect(withNow(refused, [watch('inconclusive', 'no data')])).toEqual(refused);
    expect(withNow({ ...paused, by: 'operator' }, [watch('healthy', '')])).not.toHaveProperty('now');
  });

  test('is a line of a log as soon as it answers, once', () => {
    const of = (pending: PendingActivityView) => ({
      release: null,
      waits: [],
      deploys: [
        {
          ...mergeDeploy(deploy({ state: 'baking', outcome: null, endedAt: null, paused }), [pending]),
          webUi: '',
        },
      ],
    });
    const before = of(watch('healthy', '', 'connect ECONNREFUSED'));
    const after = of(watch('inconclusive', 'no data'));
    const lines = logLines(before, after);
    expect(lines).toEqual([
      expect.stringContaining(
        '‖ it answers again (inconclusive: no data); the deploy continues by itself once it is healthy',
      ),
    ]);
    expect(logLines(after, after)).toEqual([]);
  });
});

test('a deploy whose change waits to land says after how many others, also in JSON', () => {
  const reason = 'change 7 waits to land, after 12 others';
  const counted = { units: [], totals: { units: 0, targeted: 0, updated: 0, live: 0 } };
  const running = deploy({ state: 'updating', outcome: null, endedAt: null });
  const seen = (waits?: object): PendingActivityView => ({
    ...said({ ...counted, ...(waits && { waits }) }),
    activity: 'followUpdates',
  });
  const status = mergeDeploy(running, [seen({ reason, ahead: 12 })]);
  expect(status).toMatchObject({ ahead: 12, summary: `${running.summary}; ${reason}` });
  const view = { width: 400, color: false, now: NOW, timeZone: 'UTC' };
  expect(renderDeploy({ ...status, webUi: '' }, view)).toContain(reason);
  expect(mergeDeploy(running, [seen()])).not.toHaveProperty('ahead');
});
