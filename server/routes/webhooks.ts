import { REFUSED, type ApiRoute } from '../apiRoute';
import { deliveredAnswer } from '../schemas';
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
];
