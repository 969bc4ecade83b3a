import { REFUSED, type ApiRoute } from '../apiRoute';
import { deliveredAnswer } from '../schemas';
import { opsgenieSchema, pagerDutySchema } from '../webhooks/acknowledgements';
import { pushSchema, standardSchema } from '../webhooks/events';

const DELIVERED = {
  204: 'No pipeline subscribes to it',
  401: 'The signature is invalid',
  413: 'Larger than 1 MiB',
  503: 'Retry after Retry-After',
};

/** Deliveries, which are verified over their raw bodies (server/webhooks/routes.ts). */
export const WEBHOOK_ROUTES: readonly ApiRoute[] = [
  {
    route: 'POST /v1/webhooks/github',
    summary: 'A GitHub delivery: a push to a branch starts releases of the pipelines that subscribe to its commits',
    ...{ status: 202, security: 'signed', request: pushSchema, answer: deliveredAnswer },
    headers: [
      ['X-Hub-Signature-256', true, 'sha256=<hex> of the raw body.'],
      ['X-GitHub-Event', true, '`push`; other events are ignored.'],
    ],
    also: DELIVERED,
    respond: (c, { webhooks }) => webhooks.github(c),
  },
  {
    route: 'POST /v1/webhooks/standard',
    summary: 'A Standard Webhooks delivery of `artifact.published`, to subscribers of a finder or to one pipeline',
    ...{ status: 202, security: 'signed', request: standardSchema, answer: deliveredAnswer },
    headers: [
      ['webhook-id', true, 'The same id never starts a second release.'],
      ['webhook-timestamp', true, 'Seconds since the epoch, at most five minutes off.'],
      ['webhook-signature', true, 'v1,<base64> of <id>.<timestamp>.<body>; several, separated by spaces.'],
    ],
    also: { ...DELIVERED, ...REFUSED },
    respond: (c, { webhooks }) => webhooks.standard(c),
  },
  {
    route: 'POST /v1/webhooks/pagerduty',
    summary: 'A webhook of PagerDuty: a person has acknowledged or resolved the incident of a page',
    ...{ status: 202, security: 'signed', request: pagerDutySchema },
    headers: [['X-PagerDuty-Signature', true, 'v1=<hex> of the raw body; several, separated by commas.']],
    also: { ...DELIVERED, 204: 'No release waits for it' },
    respond: (c, { pagers }) => pagers.pagerduty(c),
  },
  {
    route: 'POST /v1/webhooks/opsgenie',
    summary: 'A webhook of Opsgenie: a person has acknowledged or closed the alert of a page',
    ...{ status: 202, security: 'signed', request: opsgenieSchema },
    headers: [['Authorization', true, 'Bearer and the token, as a custom header of the integration.']],
    also: { ...DELIVERED, 204: 'No release waits for it' },
    respond: (c, { pagers }) => pagers.opsgenie(c),
  },
  {
    route: 'POST /v1/webhooks/slack',
    summary: 'A click on a button in Slack, or the submission of its dialog: a command of the person who clicked',
    ...{ status: 200, security: 'signed' },
    headers: [
      ['X-Slack-Request-Timestamp', true, 'Seconds since the epoch, at most five minutes off.'],
      ['X-Slack-Signature', true, 'v0=<hex> of v0:<timestamp>:<body>; each is accepted once.'],
    ],
    also: { 401: DELIVERED[401], 413: DELIVERED[413], 503: DELIVERED[503] },
    respond: (c, { slack }) => slack(c),
  },
];
