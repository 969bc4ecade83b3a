import { ALERT_STEPS, alertKey } from './alert';
import type { Format, ReceiverFacts } from './format';
import type { Notice, NoticeOn } from './notice';
import { cutHeadline, listNoticeFacts } from './words';

/** An event for PagerDuty's Events API v2. The key is the integration key of a service. */
export const pagerDuty: Format = {
  contentType: 'application/json',
  home: 'https://events.pagerduty.com/v2/enqueue',
  needsKey: true,
  body: pagerDutyEvent,
};

const SUMMARY_LENGTH = 1_024;

function pagerDutyEvent(notice: Notice, { key = '', link = null }: ReceiverFacts = {}): object {
  const step = ALERT_STEPS[notice.on];
  const event = { routing_key: key, event_action: step, dedup_key: alertKey(notice) };
  if (step !== 'trigger') return event;
  return {
    ...event,
    payload: {
      summary: cutHeadline(notice, SUMMARY_LENGTH),
      timestamp: notice.at,
      source: notice.pipeline,
      severity: SEVERITIES[notice.on],
      component: notice.deploy ?? notice.release,
      group: notice.pipeline,
      class: notice.on,
      custom_details: Object.fromEntries(listNoticeFacts(notice)),
    },
    client: 'Conveyor',
    ...(link === null ? {} : { client_url: link, links: [{ href: link, text: 'Open in Conveyor' }] }),
  };
}

const SEVERITIES: Readonly<Record<NoticeOn, 'critical' | 'error' | 'warning' | 'info'>> = {
  reverted: 'error',
  paused: 'warning',
  failed: 'error',
  expired: 'warning',
  'offer-broken': 'error',
  succeeded: 'info',
  cancelled: 'info',
  'on-call': 'critical',
  answered: 'info',
  settled: 'info',
};
