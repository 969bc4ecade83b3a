import { REFUSED, type ApiRoute } from '../apiRoute';
import { deliveredAnswer } from '../schemas';
import { pushSchema, standardSchema } from '../webhooks/events';

const DELIVERED = {
  204: 'None of our pipelines is concerned',
  401: 'The signature does not fit',
  413: 'Larger than 1 MiB',
  503: 'Try again after Retry-After',
};

/** Deliveries, which are verified over their raw bodies (server/webhooks/routes.ts). */
export const WEBHOOK_ROUTES: readonly ApiRoute[] = [
  {
    route: 'POST /v1/webhooks/github',
    summary: 'A delivery of GitHub: a push to a branch starts the releases of pipelines that subscribe to its commits',
    ...{ status: 202, security: 'signed', request: pushSchema, answer: deliveredAnswer },
    headers: [
      ['X-Hub-Signature-256', true, 'sha256=<hex> of the raw body.'],
      ['X-GitHub-Event', true, '`push`; anything else is taken for nothing of ours.'],
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
