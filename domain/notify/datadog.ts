import { alertKey } from './alert';
import type { Format, ReceiverFacts } from './format';
import type { Notice, NoticeOn } from './notice';
import { cutHeadline, cutLine, listNoticeFacts } from './words';

/** An event of Datadog (v1). The key is an API key. */
export const datadog: Format = {
  contentType: 'application/json',
  home: 'https://api.datadoghq.com/api/v1/events',
  needsKey: true,
  headers: (key) => ({ 'dd-api-key': key }),
  body: datadogEvent,
};

const TITLE_LENGTH = 100;
const EVENT_LENGTH = 4_000;
const KEY_LENGTH = 100;

/** Datadog shows the text as it is unless it begins with a line of percent signs, which a headline does not. */
function datadogEvent(notice: Notice, { link = null }: ReceiverFacts = {}): object {
  const { pipeline, on, at, deploy, release } = notice;
  const facts = listNoticeFacts(notice).map(([name, value]) => `${name}: ${value}`);
  const lines = [cutHeadline(notice, EVENT_LENGTH), ...(link === null ? [] : [link]), ...facts];
  return {
    title: cutLine(`${deploy ?? release} ${on}`, TITLE_LENGTH),
    text: lines.join('\n').slice(0, EVENT_LENGTH),
    date_happened: Math.floor(Date.parse(at) / 1000),
    alert_type: ALERT_TYPES[on],
    priority: 'normal',
    source_type_name: 'conveyor',
    aggregation_key: cutLine(alertKey(notice), KEY_LENGTH),
    tags: [`pipeline:${pipeline}`, `event:${on}`],
  };
}

const ALERT_TYPES: Readonly<Record<NoticeOn, 'error' | 'warning' | 'info' | 'success'>> = {
  succeeded: 'success',
  paused: 'warning',
  reverted: 'error',
  failed: 'error',
  cancelled: 'info',
  expired: 'warning',
  'offer-broken': 'error',
  'on-call': 'error',
  answered: 'info',
  settled: 'success',
};
