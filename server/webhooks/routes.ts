import { createHash } from 'node:crypto';
import { Hono, type Context } from 'hono';
import { conveyorError } from '../../domain/errors';
import type { WebhookSource } from '../../sdk/access';
import { unfitKey } from '../../domain/excess';
import type { Bodies } from '../bodies';
import { parseJson, readBytes, refuse } from '../body';
import type { ServerDeps } from '../deps';
import type { Gate } from '../gate';
import { deliver, type Delivered, type Delivering, type Delivery } from './deliver';
import { unfitIn, PUBLISHED, pushSchema, saidByPush, saidByStandard, standardSchema, type Said } from './events';
import { Recent } from './recent';
import { malformedGithub, malformedStandard, refuseGithub, refuseStandard } from './signature';

/** Answers of the last minute: what is delivered again after that is a question to the pipelines. */
const REMEMBERED = { entries: 2_000, ageMs: 60_000 };

interface Bounds {
  /** Of deliveries that are believed. */
  readonly lane: Gate;
  readonly bodies: Bodies;
}

/** `POST /v1/webhooks/github` and `/standard` (cli.md §5): verified over the raw body before anything of it is parsed. */
export function webhookRoutes(deps: Pick<ServerDeps, 'access' | 'now'> & Delivering & Bounds): Hono {
  const app = new Hono();
  const recent = new Recent<Delivered | null>(REMEMBERED, () => deps.now());
  const { github, standard } = deps.access.webhooks;

  const signed = (context: Context, use: (body: Uint8Array) => Promise<Response>): Promise<Response> =>
    deps.bodies.run((reading) => readBytes(context, reading), use);
  const inTurn = (context: Context, delivery: Parameters<typeof answer>[3], read: () => Said): Promise<Response> =>
    deps.lane.run(() => answer(context, deps, recent, delivery, read), context.req.raw.signal);

  app.post('/github', (context) => {
    const source = opened('github', github);
    const signature = context.req.header('x-hub-signature-256');
    reject('github', malformedGithub(signature));
    return signed(context, async (body) => {
      reject('github', refuseGithub(body, signature, source.secrets));
      const event = required(context, 'X-GitHub-Event');
      if (event !== 'push') return context.body(null, 204);
      const key = `github:${required(context, 'X-GitHub-Delivery')}`;
      return inTurn(context, { key, actor: source.actor, body }, () =>
        saidByPush(parseJson(githubJson(context, body), pushSchema)),
      );
    });
  });

  app.post('/standard', (context) => {
    const source = opened('standard', standard);
    const headers = standardHeaders(context);
    reject('standard', malformedStandard(headers, deps.now()));
    return signed(context, async (body) => {
      reject('standard', refuseStandard(body, headers, source.secrets));
      return inTurn(context, { key: `standard:${headers.id}`, actor: source.actor, body }, () =>
        saidInStandard(textOf(body)),
      );
    });
  });
  return app;
}

/**
 * 202 with what came of it, 204 when it concerns nobody; the same delivery again gives the same answer, and another under its key none
 * while it is remembered.
 */
async function answer(
  context: Context,
  deps: Delivering,
  recent: Recent<Delivered | null>,
  { key, actor, body }: Omit<Delivery, 'said'> & { readonly body: Uint8Array },
  read: () => Said,
): Promise<Response> {
  refuse(unfitKey(key));
  const content = createHash('sha256').update(body).digest('hex');
  const differs = (): Error => conveyorError('key-reused', { key, was: 'another delivery', now: 'another body' });
  const { answer: delivered, again } = await recent.once(
    { key, content, differs },
    async () => {
      const said = read();
      refuse(unfitIn(said));
      return deliver(deps, { key, actor, said });
    },
    (it) => it !== null && it.left === 0 && it.awaiting.length === 0,
  );
  if (delivered === null) return context.body(null, 204);
  const releases = delivered.releases.map(({ id, duplicate }) => ({ id, duplicate: duplicate || again }));
  const [first] = releases;
  if (first !== undefined) context.header('location', `/v1/releases/${first.id}`);
  return context.json({ ...delivered, releases }, 202);
}

function saidInStandard(text: string): Said {
  const { type } = parseJson(text, standardSchema.pick({ type: true }));
  return type === PUBLISHED ? saidByStandard(parseJson(text, standardSchema)) : null;
}

function opened(webhook: 'github' | 'standard', source: WebhookSource | null): WebhookSource {
  if (source !== null && source.secrets.length > 0) return source;
  throw conveyorError('webhook-closed', { webhook, variables: source?.secretEnvs ?? [] });
}

function reject(webhook: 'github' | 'standard', why: string | undefined): void {
  if (why !== undefined) throw conveyorError('bad-signature', { webhook, why });
}

/** GitHub sends JSON, or a form with JSON in it, as the hook is set up. */
function githubJson(context: Context, body: Uint8Array): string {
  const isForm = context.req.header('content-type')?.startsWith('application/x-www-form-urlencoded');
  return isForm ? (new URLSearchParams(textOf(body)).get('payload') ?? '') : textOf(body);
}

const textOf = (body: Uint8Array): string => Buffer.from(body).toString('utf8');

function required(context: Context, header: string): string {
  const value = context.req.header(header);
  if (value === undefined || value === '')
    throw conveyorError('invalid-request', { detail: `the header ${header} is missing` });
  return value;
}

function standardHeaders(context: Context): { id: string; timestamp: string; signature: string } {
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = context.req.header(name) ?? '';
    if (value === '') reject('standard', `${name} is missing`);
    return value;
  });
  return { id: id ?? '', timestamp: timestamp ?? '', signature: signature ?? '' };
}
