import { ApplicationFailure, Context } from '@temporalio/activity';
import { conveyorError, ConveyorError } from '../domain/errors';
import type { Notice } from '../domain/notify/notice';
import { readPageTarget, readScheduleAnswer, type PageTarget } from '../domain/onCall';
import { sendRequest } from '../sdk/request';
import type { NamedReceiver } from '../settings/notifications';
import { asFailure } from './failure';
import type { NotifyPorts } from './noticeRequest';
import { deliverNotice, type NotifyParts } from './notify';
import { findSchedule } from './notifyReceiver';

interface PagingRequest {
  /** `page` of the pipeline, for the first notice of a page. */
  readonly page?: string;
  /** The receiver that got the first notice, for later ones. */
  readonly to?: string;
  /** The owners of the pipeline, whose receivers are paged if there is no other. */
  readonly owners: readonly string[];
  readonly event: Notice;
}

interface SentPage {
  readonly to: string;
  /** The reason why an owner was paged instead; null if the right person was. */
  readonly note: string | null;
}

export type PageActivities = ReturnType<typeof createPageActivities>;

export function createPageActivities({ registry, ...rest }: NotifyParts) {
  const now = (): NotifyPorts => ({ ...rest, notifications: registry.notifications });
  return {
    /**
     * Pages the person on call, at least once. A schedule is read at that moment. If it does not name a person who can be paged, or if their receiver
     * does not work, the receiver of an owner is paged.
     * @throws notification-refused (not retried), notification-undelivered
     */
    page: ({ page = '', to, owners, event }: PagingRequest): Promise<SentPage> =>
      asFailure(async () => {
        const ports = now();
        if (to === undefined) return sendFirstPage(ports, page, owners, event);
        await deliverNotice(ports, { to, event });
        return { to, note: null };
      }),
  };
}

/** A receiver that does not answer gets some tries before an owner is paged in its place. */
const PAGE_TRIES = 3;

async function sendFirstPage(
  ports: NotifyPorts,
  page: string,
  owners: readonly string[],
  event: Notice,
): Promise<SentPage> {
  const found = await findPaged(ports, page).catch((error: unknown) => whyNotPaged(error));
  const owner = findPagedReceiver(ports, owners);
  const instead = async (why: string): Promise<SentPage> => {
    if (owner === undefined)
      throw conveyorError('notification-refused', {
        ...(readPageTarget(page).kind === 'schedule' ? { url: page } : { to: page }),
        detail: `${why}, and no owner has a receiver`,
      });
    await deliverNotice(ports, { to: owner.name, event });
    return { to: owner.name, note: why };
  };
  if (typeof found === 'string') return instead(found);
  try {
    await deliverNotice(ports, { to: found.name, event });
    return { to: found.name, note: null };
  } catch (error) {
    const isLastTry = !mayPassOn(error) || Context.current().info.attempt >= PAGE_TRIES;
    if (!isLastTry || owner === undefined || owner.name === found.name) throw error;
    return instead(whyNotPaged(error));
  }
}

const mayPassOn = (error: unknown): boolean =>
  error instanceof ConveyorError ? error.retryable : error instanceof ApplicationFailure && !error.nonRetryable;

const whyNotPaged = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The receiver to page. @throws an error whose message says why there is none */
async function findPaged(ports: NotifyPorts, page: string): Promise<NamedReceiver> {
  const target = readPageTarget(page);
  const person = target.kind === 'schedule' ? await readSchedule(ports, target.url) : target;
  const found =
    person.kind === 'receiver'
      ? ports.notifications.named.find(({ name }) => name === person.name)
      : findPagedReceiver(ports, [person.principal]);
  if (found !== undefined) return found;
  const who = person.kind === 'receiver' ? `of the name ${person.name}` : `for ${person.principal}`;
  const by = target.kind === 'schedule' ? ', whom the schedule names' : '';
  throw new Error(`notifications.receivers of conveyor.config.yaml has no receiver ${who}${by}`);
}

/** The receiver of the first of these principals that has one. */
const findPagedReceiver = (
  { notifications: { named } }: NotifyPorts,
  who: readonly string[],
): NamedReceiver | undefined =>
  who.flatMap((principal) => named.find(({ people }) => people.includes(principal)) ?? [])[0];

const MAX_SCHEDULE_BYTES = 16 * 1024;

/** @throws an error whose message says why it names no person; addresses with secrets appear in none */
async function readSchedule(ports: NotifyPorts, url: string): Promise<Exclude<PageTarget, { kind: 'schedule' }>> {
  const { target, fetch } = await findSchedule(url, ports, MAX_SCHEDULE_BYTES);
  const { timeoutMs } = ports.notifications;
  const signal = Context.current().cancellationSignal;
  const request = new Request(target, { redirect: 'manual', headers: { accept: 'application/json' } });
  const answer = await sendRequest(request, {}, { fetch, timeoutMs, signal, maxBytes: MAX_SCHEDULE_BYTES }).catch(
    () => {
      throw new Error('the schedule does not answer');
    },
  );
  if (answer.status !== 200) throw new Error(`the schedule answered with status ${answer.status}`);
  const said = readScheduleAnswer(answer.text);
  if (said === undefined) throw new Error('the schedule names no person: expected { "onCall": "user:alice" }');
  return said;
}
