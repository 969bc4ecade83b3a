import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { ActionActivities } from '../activities/actionService';
import type { CalendarActivities } from '../activities/calendar';
import type { ChildActivities } from '../activities/children';
import type { FinderActivities } from '../activities/finders';
import type { HolderActivities } from '../activities/holders';
import type { NotifyActivities } from '../activities/notify';
import type { PushTypeActivities } from '../activities/pushType';
import type { ScriptActivities } from '../activities/script';
import type { WaitForActivities } from '../activities/waitFor';
import { DEFAULT_SETTINGS, type Settings } from '../domain/settings';

/**
 * Every activity with its retry policy; nothing else retries (DESIGN §8). What cannot succeed on a second try is marked
 * so by the activity.
 */
const FOREVER = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' } as const;

/** A call that is given up after the dependency's grace, so that the workflow can show the outage … */
export const promptPush = ({ dependencyGraceMs }: Settings) =>
  proxyActivities<PushTypeActivities>({
    startToCloseTimeout: '1m',
    scheduleToCloseTimeout: dependencyGraceMs,
    retry: FOREVER,
  });

/** … and then made until it succeeds. */
export const patientPush = proxyActivities<PushTypeActivities>({ startToCloseTimeout: '1m', retry: FOREVER });

export const holders = proxyActivities<HolderActivities>({ startToCloseTimeout: '10s', retry: FOREVER });

export const calendar = proxyActivities<CalendarActivities>({ startToCloseTimeout: '10s', retry: FOREVER });

/** A sweep goes on until its finder answers; meanwhile its Schedule starts no other. */
export const sweepers = (heartbeatTimeoutMs: number) =>
  proxyActivities<FinderActivities>({
    startToCloseTimeout: '1h',
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: FOREVER,
  });

/** Activities that watch for as long as it takes. They heartbeat, and end once they have heard of their cancellation. */
const watching = ({ heartbeatTimeoutMs }: Settings) =>
  ({
    startToCloseTimeout: '365d',
    heartbeatTimeout: heartbeatTimeoutMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  }) as const;

/** A watcher that fails a few times in a row comes back to the workflow, which shows the outage and waits for its end. */
export const pushWatchers = (settings: Settings) =>
  proxyActivities<PushTypeActivities>({ ...watching(settings), retry: { ...FOREVER, maximumAttempts: 5 } });

/** While the deploy is paused there is nothing to show that it does not show already: the watch itself waits for the end. */
export const patientPushWatchers = (settings: Settings) =>
  proxyActivities<PushTypeActivities>({ ...watching(settings), retry: FOREVER });

export const actionWatchers = (settings: Settings) =>
  proxyActivities<ActionActivities>({ ...watching(settings), retry: FOREVER });

/** As `pushWatchers`, for what is run before and after a phase … */
export const stepWatchers = (settings: Settings) =>
  proxyActivities<ActionActivities>({ ...watching(settings), retry: { ...FOREVER, maximumAttempts: 5 } });

/** … whose service is asked until it answers, … */
export const patientActions = proxyActivities<ActionActivities>({ startToCloseTimeout: '1m', retry: FOREVER });

/** … but not for ever where that would keep a deploy from ending, … */
export const promptActions = ({ dependencyGraceMs }: Settings) =>
  proxyActivities<ActionActivities>({
    startToCloseTimeout: '1m',
    scheduleToCloseTimeout: dependencyGraceMs,
    retry: FOREVER,
  });

/** … nor a release, though that can wait for longer. */
export const actionStoppers = ({ cancelGraceMs = DEFAULT_SETTINGS.cancelGraceMs }: Settings) =>
  proxyActivities<Pick<ActionActivities, 'cancelAction'>>({
    startToCloseTimeout: '1m',
    scheduleToCloseTimeout: cancelGraceMs,
    retry: FOREVER,
  });

export const children = proxyActivities<ChildActivities>({ startToCloseTimeout: '1m', retry: FOREVER });

/** Starting one waits for its pipeline; when the worker was killed meanwhile, another takes over at once. */
export const childStarts = ({ heartbeatTimeoutMs }: Settings) =>
  proxyActivities<Pick<ChildActivities, 'startChildRelease'>>({
    startToCloseTimeout: '1m',
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: FOREVER,
  });

/** A script is run again when its worker dies, at least once (activities/script.ts). */
export const scriptWatchers = (settings: Settings) =>
  proxyActivities<ScriptActivities>({ ...watching(settings), retry: FOREVER });

/** Each try asks once and says when the next is due, so the wait may be as long as it likes. */
export const waits = proxyActivities<WaitForActivities>({ startToCloseTimeout: '30s', retry: FOREVER });

/** Old news is no news: a receiver that stays away is not waited for. */
export const notices = proxyActivities<NotifyActivities>({
  startToCloseTimeout: '1m',
  scheduleToCloseTimeout: '1h',
  retry: FOREVER,
});
