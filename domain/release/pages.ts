import type { DeployAlarm } from '../deploy/alarm';
import { cutText } from '../size';
import { formatTime } from '../text';
import type { PageView } from '../views';

/** The page of the person on call about one deploy: pure steps, which the release carries out. */

const REASON_BYTES = 1_000;
const NAME_BYTES = 200;

export function openPage(
  deploy: string,
  { kind, reason }: DeployAlarm,
  { nowMs, afterMs, number }: { readonly nowMs: number; readonly afterMs: number; readonly number: number },
): PageView {
  return {
    number,
    ...{ deploy, kind, reason: cutText(reason, REASON_BYTES) },
    ...{ since: formatTime(nowMs), dueAt: formatTime(nowMs + afterMs), state: 'due' },
    ...{ to: null, note: null, answeredBy: null, answeredAt: null },
  };
}

/** Another alarm of a deploy whose page is open: it has one page for both. */
export const changeAlarm = (page: PageView, { kind, reason }: DeployAlarm): PageView =>
  kind === page.kind ? page : { ...page, kind, reason: cutText(reason, REASON_BYTES) };

/** Whether it still wants a person. */
export const isOpenPage = (page: PageView | undefined): page is PageView => page !== undefined && page.state !== 'over';

/** The clocks of two services differ by less. */
const CLOCK_SLACK_MS = 60_000;

/** Whether an acknowledgement is about this page. One from before it is about an earlier page of the same deploy, and is repeated. */
export const isAnswerTo = ({ since }: PageView, atMs: number): boolean => atMs >= Date.parse(since) - CLOCK_SLACK_MS;

/** The first answer counts; an answer to a page that is over changes nothing. */
export function recordAnswer(page: PageView, by: string, nowMs: number): PageView {
  if (!isOpenPage(page) || page.answeredBy !== null) return page;
  return { ...page, answeredBy: cutText(by, NAME_BYTES), answeredAt: formatTime(nowMs) };
}

/** The reason in a notice about the page. */
export const describePageReason = ({ kind, reason }: Pick<PageView, 'kind' | 'reason'>): string =>
  `it ${kind === 'paused' ? 'paused' : 'reverted'} by itself, and no person has acted on it: ${reason}`;
