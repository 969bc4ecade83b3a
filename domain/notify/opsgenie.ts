import { ALERT_STEPS, alertKey } from './alert';
import type { Format, ReceiverFacts } from './format';
import type { Notice, NoticeOn } from './notice';
import { cutHeadline, cutLine, listNoticeFacts } from './words';

/** A request to Opsgenie's Alert API, or to the same API of Jira Service Management. The key is that of an API integration. */
export const opsgenie: Format = {
  contentType: 'application/json',
  home: 'https://api.opsgenie.com/v2/alerts',
  needsKey: true,
  headers: (key) => ({ authorization: `GenieKey ${key}` }),
  path: (notice) => {
    const step = ALERT_STEPS[notice.on];
    if (step === 'trigger') return '';
    const verb = step === 'resolve' ? 'close' : 'acknowledge';
    return `/${encodeURIComponent(alertKey(notice))}/${verb}?identifierType=alias`;
  },
  body: opsgenieRequest,
};

const MESSAGE_LENGTH = 130;
const DESCRIPTION_LENGTH = 15_000;
const DETAIL_LENGTH = 1_000;

function opsgenieRequest(notice: Notice, { link = null }: ReceiverFacts = {}): object {
  const source = 'Conveyor';
  if (ALERT_STEPS[notice.on] !== 'trigger') return { source, note: cutHeadline(notice, DESCRIPTION_LENGTH) };
  const details = listNoticeFacts(notice).map(([name, value]) => [name, cutLine(value, DETAIL_LENGTH)] as const);
  return {
    message: cutHeadline(notice, MESSAGE_LENGTH),
    alias: alertKey(notice),
    description: cutHeadline(notice, DESCRIPTION_LENGTH),
    entity: notice.pipeline,
    source,
    priority: ALERT_PRIORITIES[notice.on],
    tags: ['conveyor', notice.on],
    details: { ...Object.fromEntries(details), ...(link === null ? {} : { link }) },
  };
}

const ALERT_PRIORITIES: Readonly<Record<NoticeOn, 'P1' | 'P2' | 'P3'>> = {
  reverted: 'P2',
  paused: 'P3',
  failed: 'P2',
  expired: 'P3',
  'offer-broken': 'P2',
  succeeded: 'P3',
  cancelled: 'P3',
  'on-call': 'P1',
  answered: 'P3',
  settled: 'P3',
};
