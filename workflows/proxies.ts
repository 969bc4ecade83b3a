import { ActivityCancellationType, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ActionActivities } from '../activities/actionService';
import type { ApprovalActivities } from '../activities/approvals';
import type { CalendarActivities } from '../activities/calendar';
import type { ChildActivities } from '../activities/children';
import type { ExtensionLookActivities } from '../activities/extensionLooks';
import type { FinderActivities } from '../activities/finders';
import type { HolderActivities } from '../activities/holders';
import type { LandingActivities } from '../activities/landing';
import type { OfferActivities } from '../activities/offers';
import type { NotifyActivities } from '../activities/notify';
import type { PageActivities } from '../activities/page';
import type { RecallActivities } from '../activities/recall';
import type { PushTypeActivities } from '../activities/pushType';
import type { ScriptActivities } from '../activities/script';
import type { SoakActivities } from '../activities/soak';
import type { WaitForActivities } from '../activities/waitFor';
import type { WindowRoomActivities } from '../activities/windowRoom';
import type { SweepOrder } from '../domain/finder/sweepLifetime';
import { KEEPS_FAILING } from '../domain/looks';
import type { Settings } from '../domain/settings';
import { sideQueue, type SideQueue } from '../domain/taskQueues';

/**
 * The retry policies of activities (docs/design/overview.md#failures). An activity marks a failure that no retry can fix.
 */
export const FOREVER = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' } as const;

/** Slots that no other work takes … */
const on = (side: SideQueue) => ({ taskQueue: sideQueue(workflowInfo().taskQueue, side) });

/** … such as those for reverts, rollbacks and emergencies; among the looks, theirs come first. */
const buildUrgencyOptions = (urgent: boolean) => (urgent ? { ...on('urgent'), priority: { priorityKey: 1 } } : {});

/** A call that is given up after the dependency's grace, so that the workflow can show the outage … */
export const promptPush = ({ dependencyGraceMs }: Settings, urgent = false) =>
  proxyActivities<PushTypeActivities>({
    startToCloseTimeout: '1m',
    scheduleToCloseTimeout: dependencyGraceMs,
    retry: FOREVER,
    ...buildUrgencyOptions(urgent),
  });

/** … and then made until it succeeds. */
export const patientPush = (urgent = false) =>
  proxyActivities<PushTypeActivities>({ startToCloseTimeout: '1m', retry: FOREVER, ...buildUrgencyOptions(urgent) });

/** Asks for weeks, if necessary, whether units are back. */
export const unitWaits = () =>
  proxyActivities<Pick<PushTypeActivities, 'waitForUnits'>>({
    startToCloseTimeout: '1m',
    retry: FOREVER,
    ...on('looks'),
  });

export const holders = (urgent = false) =>
  proxyActivities<Omit<HolderActivities, 'stillRunning' | 'releaseEnds'>>({
    startToCloseTimeout: '10s',
    retry: FOREVER,
    ...buildUrgencyOptions(urgent),
  });

/**
 * Looks at work that another workflow left behind. A revert may wait for them, so they go before other work that waits for a slot. They are repeated
 * soon, so that one slow service delays no other.
 */
export const lookers = proxyActivities<Pick<HolderActivities, 'stillRunning' | 'releaseEnds'>>({
  startToCloseTimeout: '1m',
  scheduleToCloseTimeout: '5m',
  retry: { maximumAttempts: 2 },
  priority: { priorityKey: 1 },
});

export const calendarActivities = proxyActivities<CalendarActivities>({ startToCloseTimeout: '10s', retry: FOREVER });

export const windowRooms = proxyActivities<WindowRoomActivities>({ startToCloseTimeout: '10s', retry: FOREVER });

/** Activities without a time limit, in which each look ends by itself soon … */
const buildLookOptions = ({ heartbeatTimeoutMs }: Settings) =>
  ({ startToCloseTimeout: '365d', heartbeatTimeout: heartbeatTimeoutMs }) as const;

/** … or which change the world, so that a workflow that cancels them waits until they have ended. */
const buildWatchOptions = (settings: Settings) =>
  ({ ...buildLookOptions(settings), cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED }) as const;

/**
 * Each look itself says when the next is due (activities/look.ts). This policy is for the retry after a worker that died during a
 * look.
 */
const LOOK_AGAIN = { initialInterval: '1s', backoffCoefficient: 1 } as const;

/** A sweep continues until its finder answers; meanwhile its Schedule starts no other. */
export const sweepers = ({ heartbeatTimeoutMs, lasting }: SweepOrder) =>
  proxyActivities<FinderActivities>({
    startToCloseTimeout: '1h',
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: lasting ? LOOK_AGAIN : FOREVER,
  });

/** After a few failures in a row, control returns to the workflow, which shows the outage and waits for its end. */
const LOOK_A_WHILE = { ...LOOK_AGAIN, nonRetryableErrorTypes: [KEEPS_FAILING] };

export const pushWatchers = (settings: Settings, urgent = false) =>
  proxyActivities<PushTypeActivities>({
    ...buildLookOptions(settings),
    retry: LOOK_A_WHILE,
    ...on('looks'),
    ...buildUrgencyOptions(urgent),
  });

/** A paused deploy has no further outage to show, so the watch itself waits for the end of the outage. */
export const patientPushWatchers = (settings: Settings) =>
  proxyActivities<PushTypeActivities>({ ...buildLookOptions(settings), retry: LOOK_AGAIN, ...on('looks') });

export const actionWatchers = (settings: Settings) =>
  proxyActivities<ActionActivities>({ ...buildWatchOptions(settings), retry: LOOK_AGAIN, ...on('looks') });

/** Like `pushWatchers`, for the steps before and after a phase … */
export const stepWatchers = (settings: Settings) =>
  proxyActivities<ActionActivities>({ ...buildWatchOptions(settings), retry: LOOK_A_WHILE, ...on('looks') });

/** … whose service is asked until it answers, … */
export const patientActions = proxyActivities<ActionActivities>({ startToCloseTimeout: '1m', retry: FOREVER });

/** … but not for ever if that would keep a deploy from ending, … */
export const promptActions = ({ dependencyGraceMs }: Settings) =>
  proxyActivities<ActionActivities>({
    startToCloseTimeout: '1m',
    scheduleToCloseTimeout: dependencyGraceMs,
    retry: FOREVER,
  });

/** … or a release, although a release can wait longer. */
export const actionStoppers = ({ cancelGraceMs }: Settings) =>
  proxyActivities<Pick<ActionActivities, 'cancelAction'>>({
    startToCloseTimeout: '1m',
    scheduleToCloseTimeout: cancelGraceMs,
    retry: FOREVER,
  });

export const childActivities = proxyActivities<ChildActivities>({ startToCloseTimeout: '1m', retry: FOREVER });

/** A start waits for its pipeline. If the worker is killed meanwhile, another takes over at once. */
export const childStarts = ({ heartbeatTimeoutMs }: Settings) =>
  proxyActivities<Pick<ChildActivities, 'startChildRelease' | 'startChildReleases'>>({
    startToCloseTimeout: '1m',
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: FOREVER,
  });

/** If a worker is killed during a landing, another follows at once and finds out which changes have landed. */
export const landers = (heartbeatTimeoutMs: number) =>
  proxyActivities<LandingActivities>({
    startToCloseTimeout: '1h',
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: FOREVER,
  });

/** A script runs again if its worker dies, so it runs at least once (activities/script.ts). */
export const scriptWatchers = (settings: Settings) =>
  proxyActivities<ScriptActivities>({ ...buildWatchOptions(settings), retry: FOREVER, ...on('scripts') });

/** Each try asks once and returns the time of the next, so the wait has no limit. */
export const waitActivities = () =>
  proxyActivities<WaitForActivities & SoakActivities>({ startToCloseTimeout: '30s', retry: FOREVER, ...on('looks') });

/** Waits for offers as long as it takes … */
export const offerLooks = () =>
  proxyActivities<Pick<OfferActivities, 'offerNews'>>({ startToCloseTimeout: '30s', retry: FOREVER, ...on('looks') });

/** … takes them for a deploy that has its turn, which it does not keep for long, … */
export const offerTakers = proxyActivities<Pick<OfferActivities, 'takeOffers' | 'announceRemoval'>>({
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '2m',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: FOREVER,
});

/** … makes them, … */
export const offerMakers = proxyActivities<Pick<OfferActivities, 'makeOffers' | 'restoreOffers'>>({
  startToCloseTimeout: '30s',
  retry: FOREVER,
});

/** … finds the receivers of notices that an offer is broken, for as long as these are retried, … */
export const receiverFinders = proxyActivities<Pick<OfferActivities, 'findReceivers'>>({
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '1h',
  retry: FOREVER,
});

/** … sends messages that others can do without, … */
export const offerMessengers = proxyActivities<Pick<OfferActivities, 'signalOffers' | 'pinAnyway' | 'isWithdrawn'>>({
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '10m',
  retry: FOREVER,
});

/** … and asks for a deploy that does not wait for offers. */
export const urgentOffers = () =>
  proxyActivities<Pick<OfferActivities, 'readOffers'>>({
    startToCloseTimeout: '10s',
    retry: FOREVER,
    ...buildUrgencyOptions(true),
  });

/** Like `waitActivities`, but for an emergency at once. */
export const approvalLooks = (urgent = false) =>
  proxyActivities<ApprovalActivities>({
    startToCloseTimeout: '30s',
    retry: FOREVER,
    ...on('looks'),
    ...buildUrgencyOptions(urgent),
  });

/** A person waits at a terminal for the answer. */
export const extensionExaminers = proxyActivities<ExtensionLookActivities>({
  startToCloseTimeout: '10s',
  retry: { maximumAttempts: 1 },
});

/** Any worker may take one; eager dispatch would always give it to the worker that runs the workflow. */
export const clockExaminers = proxyActivities<ExtensionLookActivities>({
  startToCloseTimeout: '5s',
  scheduleToCloseTimeout: '5s',
  allowEagerDispatch: false,
  retry: { maximumAttempts: 1 },
});

/** The results of another release. If they do not arrive, the rerun runs all actions. */
export const recollections = proxyActivities<RecallActivities>({
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '10m',
  retry: FOREVER,
});

/** Stops retrying after an hour, because a notice is stale by then. */
export const notices = proxyActivities<NotifyActivities>({
  startToCloseTimeout: '1m',
  scheduleToCloseTimeout: '1h',
  retry: FOREVER,
});

/** Stops retrying after an hour, like a notice. */
export const pagers = proxyActivities<PageActivities>({
  startToCloseTimeout: '1m',
  scheduleToCloseTimeout: '1h',
  retry: FOREVER,
});
