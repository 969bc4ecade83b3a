import {
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  getExternalWorkflowHandle,
  makeContinueAsNewFunc,
  setHandler,
  setWorkflowOptions,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { formatBringer, learnBrought, type BroughtVersion, type ReplacedNotice } from '../domain/broughtVersions';
import { isBrought } from '../domain/broughtVersionShapes';
import {
  BROUGHT_MEMO,
  CANARIES_MEMO,
  listCanaries,
  isCanary,
  isIdle,
  isLockRequest,
  isWaitedFor,
  releaseMutex,
  request,
  revive,
  withHeldSince,
  welcome,
  type Grants,
  type Canary,
  type LockRequest,
  type Mutex,
} from '../domain/mutex';
import { workflowIds } from '../domain/ids';
import { isNestedTooDeep, isText } from '../domain/json';
import { code, list, formatMarkdown, moment, NO_MARKDOWN, sections } from '../domain/markdown';
import type { Settings } from '../domain/settings';
import { formatTime } from '../domain/text';
import { showDetails } from './details';
import { onSignal } from './inbox';
import { replacedSignal } from './messages';
import { lookers } from './proxies';
import { buildVersioningOptions } from './versioning';
import { BackgroundTasks } from './waitFor';

/** These are signals, since the requester is a workflow or starts the lock with its request. */
const requestLockSignal = defineSignal<[LockRequest]>('request-lock');
export const releaseLockSignal = defineSignal<[string, BroughtVersion?]>('release-lock');
/** A canary joins; it leaves with `release-lock`. Activities start the lock with this signal by name. */
const joinLockSignal = defineSignal<[Canary]>('join-lock');
/** The canaries whose tasks must not be updated. */
const canariesQuery = defineQuery<readonly Canary[]>('guests');
/** The holder and the queue, also after the lock was ended from outside, for the lock that takes its place. */
const mutexQuery = defineQuery<Mutex>('mutex');
/** Sent to the holders when a canary has left. */
export const canaryLeftSignal = defineSignal<[string]>('guest-left');
/** Sent to the requester once it holds; `waited`: another deploy held the lock meanwhile, so an earlier view of the fleet is stale. */
export const lockGrantedSignal = defineSignal<[LockGrant]>('lock-granted');

export interface LockGrant {
  readonly lock: string;
  readonly fence: number;
  readonly waited: boolean;
  /** The versions that run on the service, as far as is known. */
  readonly brought?: readonly BroughtVersion[];
}

/**
 * Mutual exclusion across pipelines: one grant at a time, in the order of requests, urgent ones first. It lives while it has a holder or
 * requests. As soon as a request waits, it checks that the holder still runs, at once and then periodically, since a terminated holder cannot
 * report. While none waits it costs nothing, however long it is held. A Temporal cancel request does not end it: the holder would lose the lock
 * without knowing.
 */
export async function lock(settings: Settings, carried: Mutex | null = null): Promise<void> {
  let ignored = 0;
  const scope = CancellationScope.current();
  scope.cancelRequested.catch(() => void (ignored += 1));
  return CancellationScope.nonCancellable(() => keepLock(settings, revive(carried, Date.now()), () => ignored));
}
setWorkflowOptions(buildVersioningOptions('lock'), lock);

async function keepLock(settings: Settings, carried: Mutex, ignored: () => number): Promise<void> {
  let mutex = carried;
  showDetails(() => describe(mutex, ignored()));
  // Histories have a timer after each ignored request.
  let seen = 0;
  const canaries = new CanaryCount();
  const grants: (LockRequest & { waited: boolean })[] = [];
  const take = (next: Grants, waited: boolean): void => {
    mutex = withHeldSince(next.mutex, mutex, Date.now());
    grants.push(...next.granted.map((granted) => ({ ...granted, waited })));
    canaries.show(mutex);
  };
  let hasNewcomer = false;
  const enqueue = (asking: LockRequest): void => {
    const waiting = mutex.queue.length;
    take(request(mutex, asking), false);
    hasNewcomer ||= canaries.areShown && mutex.queue.length > waiting;
  };
  onSignal(requestLockSignal, enqueue, isLockRequest);
  const left: string[] = [];
  const notices: ReplacedNotice[] = [];
  const leave = (requester: string): void => {
    if (listCanaries(mutex).some((canary) => canary.requester === requester)) left.push(requester);
    take(releaseMutex(mutex, requester), true);
  };
  setHandler(canariesQuery, () => listCanaries(mutex));
  setHandler(mutexQuery, () => mutex);
  const join = (canary: Canary): void => {
    mutex = welcome(mutex, canary);
    canaries.show(mutex);
  };
  onSignal(joinLockSignal, join, isCanary);
  setHandler(releaseLockSignal, (requester, brought) => {
    if (!isNestedTooDeep(brought)) mutex = learnt(mutex, requester, brought, notices);
    if (isText(requester)) leave(requester);
  });
  const looks = new BackgroundTasks();
  const hasNews = (): boolean => grants.length + left.length + notices.length > 0;
  do {
    for (let next = grants.shift(); next; next = grants.shift()) {
      if (!(await sendGrant(next.requester, mutex, next.waited))) take(releaseMutex(mutex, next.requester), true);
    }
    for (let canary = left.shift(); canary !== undefined; canary = left.shift()) await notifyHolders(mutex, canary);
    await Promise.all(notices.splice(0).map(notifyPipeline));
    seen = ignored();
    if (workflowInfo().continueAsNewSuggested && !hasNews())
      await makeContinueAsNewFunc<typeof lock>(buildLockMemo(canaries, mutex))(settings, mutex);
    await untilDue();
  } while (!isIdle(mutex) || hasNews() || looks.size > 0);

  async function untilDue(): Promise<void> {
    if (looks.size > 0) return condition(() => hasNews() || looks.size === 0);
    const isWatched = (): boolean => !canaries.areShown || isWaitedFor(mutex);
    const watched = isWatched();
    const isDue = (): boolean =>
      hasNews() || isIdle(mutex) || ignored() > seen || hasNewcomer || isWatched() !== watched;
    const patienceMs = watched ? settings.reconcileIntervalMs : undefined;
    const changed = await waitUntil(isDue, patienceMs, 'check that the holder still runs');
    const isNewlyWaited = hasNewcomer && mutex.queue.length > 0;
    hasNewcomer = false;
    if (changed && !isNewlyWaited) return;
    looks.add(dropDead());
    await condition(() => looks.size === 0 || hasNews());
  }

  async function dropDead(): Promise<void> {
    const known = [...(mutex.holder?.requesters ?? []), ...listCanaries(mutex).map(({ requester }) => requester)];
    const alive = await lookers.stillRunning(known, settings).catch(() => known);
    for (const requester of known) if (!alive.includes(requester)) leave(requester);
  }
}

/** @returns false once the time is up. */
const waitUntil = async (isDue: () => boolean, patienceMs: number | undefined, summary: string): Promise<boolean> =>
  patienceMs === undefined ? condition(isDue).then(() => true) : condition(isDue, patienceMs, { summary });

/**
 * The number of canaries, in the memo for all readers (activities/canaryReader.ts). A lock that began without the memo shows nothing.
 */
class CanaryCount {
  private shown = workflowInfo().memo?.[CANARIES_MEMO];

  get areShown(): boolean {
    return this.shown !== undefined;
  }

  show(mutex: Mutex): void {
    const { length } = listCanaries(mutex);
    if (!this.areShown || this.shown === length) return;
    this.shown = length;
    upsertMemo({ [CANARIES_MEMO]: length });
  }

  carried(mutex: Mutex): Record<string, unknown> {
    return this.areShown ? { [CANARIES_MEMO]: listCanaries(mutex).length } : {};
  }
}

/** The server does not carry over a memo. */
function buildLockMemo(canaries: CanaryCount, mutex: Mutex): { readonly memo?: Record<string, unknown> } {
  const memo = { ...canaries.carried(mutex), ...(mutex.brought ? { [BROUGHT_MEMO]: mutex.brought } : {}) };
  return Object.keys(memo).length > 0 ? { memo } : {};
}

/** Adds the versions that a deploy has brought; `notices` are for the pipelines whose versions it affects. */
function learnt(mutex: Mutex, requester: string, brought: unknown, notices: ReplacedNotice[]): Mutex {
  if (!isBrought(brought) || !mayBring(mutex, requester)) return mutex;
  const { after, notices: news } = learnBrought(mutex.brought ?? [], brought);
  notices.push(...news);
  upsertMemo({ [BROUGHT_MEMO]: after });
  return { ...mutex, brought: after };
}

/** A requester that has lost the lock no longer knows what runs on the service. */
const mayBring = ({ holder }: Mutex, requester: string): boolean =>
  holder === null || holder.requesters.includes(requester);

/** A pipeline that has ended gets no notice. */
const notifyPipeline = (notice: ReplacedNotice): Promise<void> =>
  getExternalWorkflowHandle(workflowIds.pipeline(notice.pipeline))
    .signal(replacedSignal, notice)
    .catch(() => undefined);

async function notifyHolders({ holder }: Mutex, canary: string): Promise<void> {
  const sent = (holder?.requesters ?? []).map((requester) =>
    getExternalWorkflowHandle(requester)
      .signal(canaryLeftSignal, canary)
      .catch(() => undefined),
  );
  await Promise.all(sent);
}

/** @returns false if the requester is gone: signalling a closed workflow fails. */
async function sendGrant(requester: string, { fence, brought }: Mutex, waited: boolean): Promise<boolean> {
  const grant: LockGrant = { lock: workflowInfo().workflowId, fence, waited, ...(brought ? { brought } : {}) };
  return getExternalWorkflowHandle(requester)
    .signal(lockGrantedSignal, grant)
    .then(
      () => true,
      () => false,
    );
}

function describe(mutex: Mutex, ignored: number): string {
  const { holder, queue, brought = [] } = mutex;
  return sections(
    formatMarkdown`Held by **${holder?.owner ?? 'no release'}**${holder?.sinceMs === undefined ? '' : ` since ${formatTime(holder.sinceMs)}`}`,
    list(
      'Waiting:',
      queue.map(({ owner }) => formatMarkdown`${owner}`),
    ),
    list(
      'Canaries beside it:',
      listCanaries(mutex).map(({ requester }) => formatMarkdown`${requester}`),
    ),
    list(
      'Brought there, the newest last:',
      brought.map(
        (one) =>
          formatMarkdown`${code(one.version)} by ${formatBringer(one)} at ${moment(one.at)} UTC${one.stopped ? ', where it stopped on its way' : ''}`,
      ),
    ),
    ignored > 0
      ? formatMarkdown`A cancel request through Temporal was ignored: cancel the release that holds it instead.`
      : NO_MARKDOWN,
  );
}
