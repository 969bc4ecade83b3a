import { createHmac } from 'node:crypto';
import type { Context } from 'hono';
import { conveyorError } from '../../domain/errors';
import type { PagerKind } from '../../settings/access';
import { isSameSecret } from '../../settings/secrets';
import { getBearerToken } from '../auth';
import type { Bodies } from '../bodies';
import { parseJsonBody, readBytes } from '../body';
import type { ServerDeps } from '../deps';
import type { RequestGate } from '../gate';
import {
  opsgenieSchema,
  pagerDutySchema,
  readOpsgenie,
  readPagerDuty,
  whyTooLate,
  type PagerAcknowledgement,
} from './acknowledgements';

interface PagerDeps extends Pick<ServerDeps, 'config' | 'now' | 'answerPage'> {
  /** The queue for authenticated deliveries. */
  readonly lane: RequestGate;
  readonly bodies: Bodies;
}

/** A handler for the reports of each paging service. */
export type PagerHandlers = Readonly<Record<PagerKind, (context: Context) => Promise<Response>>>;

/** Reports that a person has acknowledged a page. They are verified before any part of them is parsed, and change nothing but the page. */
export function pagerHandlers(deps: PagerDeps): PagerHandlers {
  const pagerduty = (context: Context): Promise<Response> => {
    const secrets = requirePagerSecrets(deps, 'pagerduty');
    const given = listSignatures(context.req.header('x-pagerduty-signature'));
    if (given.length === 0) throw refuseReport('pagerduty', 'X-PagerDuty-Signature has no v1=<64 hexadecimal digits>');
    return readBody(context, deps, (body) => {
      if (!secrets.map((secret) => fitsSome(given, sign(secret, body))).includes(true))
        throw refuseReport('pagerduty', 'X-PagerDuty-Signature does not match the body');
      return readPagerDuty(parseJsonBody(Buffer.from(body).toString('utf8'), pagerDutySchema));
    });
  };
  const opsgenie = (context: Context): Promise<Response> => {
    const secrets = requirePagerSecrets(deps, 'opsgenie');
    const token = getBearerToken(context);
    if (!secrets.map((secret) => isSameSecret(secret, token)).includes(true))
      throw refuseReport('opsgenie', 'Authorization is not Bearer with its token');
    return readBody(context, deps, (body) =>
      readOpsgenie(parseJsonBody(Buffer.from(body).toString('utf8'), opsgenieSchema), deps.now()),
    );
  };
  return { pagerduty, opsgenie };
}

/** 202 if the release has taken it, 204 if the report is about nothing that waits for it. */
async function readBody(
  context: Context,
  { bodies, lane, now, answerPage }: PagerDeps,
  read: (body: Uint8Array) => PagerAcknowledgement | null,
): Promise<Response> {
  return bodies.run(
    (reading) => readBytes(context, reading),
    async (body) => {
      const said = read(body);
      if (said === null) return context.body(null, 204);
      const late = whyTooLate(said, now());
      if (late !== undefined) throw conveyorError('invalid-request', { detail: `the report is too old: ${late}` });
      if (answerPage === undefined) throw conveyorError('not-found', { what: 'release that waits for it' });
      const isTold = await lane.run(() => answerPage(said), context.req.raw.signal);
      return context.body(null, isTold ? 202 : 204);
    },
  );
}

function requirePagerSecrets({ config }: PagerDeps, webhook: PagerKind): readonly string[] {
  const known = config.access.pagers[webhook];
  if (known !== undefined && known.secrets.length > 0) return known.secrets;
  throw conveyorError('webhook-closed', { webhook, variables: known?.secretEnvs ?? [] });
}

const refuseReport = (webhook: PagerKind, why: string): Error => conveyorError('bad-signature', { webhook, why });

/** `v1=<hex>`, several separated by commas while a secret is replaced. */
const listSignatures = (header = ''): readonly string[] =>
  header
    .split(',', MOST_SIGNATURES)
    .flatMap((part) => /^\s*v1=([0-9a-f]{64})\s*$/i.exec(part)?.[1]?.toLowerCase() ?? []);

const MOST_SIGNATURES = 10;

const sign = (secret: string, body: Uint8Array): string => createHmac('sha256', secret).update(body).digest('hex');

/** Compares with all, so that the duration does not reveal how close a wrong signature was. */
const fitsSome = (given: readonly string[], expected: string): boolean =>
  given.map((one) => isSameSecret(one, expected)).includes(true);
