import { createHash } from 'node:crypto';
import { Hono, type Context } from 'hono';
import { auditEntry } from '../../domain/audit/record';
import { conveyorError, type ConveyorError } from '../../domain/errors';
import { unfitKey } from '../../domain/excess';
import { outOfScope } from '../../domain/finder/scope';
import { mayCommand } from '../../domain/principals';
import type { WebhookKind, WebhookSource } from '../../sdk/access';
import type { Bodies } from '../bodies';
import { parseJson, readBytes, refuse } from '../body';
import type { ServerDeps } from '../deps';
import type { Gate } from '../gate';
import { deliver, type Delivered, type Delivering } from './deliver';
import {
  PUBLISHED,
  pushSchema,
  saidByPush,
  saidByStandard,
  standardSchema,
  tooOld,
  underItsNames,
  unfitIn,
  type Said,
} from './events';
import { Recent } from './recent';
import { malformedGithub, malformedStandard, signerOfGithub, signerOfStandard } from './signature';

/** Answers of the last minute: what is delivered again after that is a question to the pipelines. */
const REMEMBERED = { entries: 2_000, ageMs: 60_000 };

interface Bounds {
  /** Of deliveries that are believed. */
  readonly lane: Gate;
  readonly bodies: Bodies;
}

/** A delivery that is believed, before it is read. */
interface Signed {
  readonly source: WebhookSource;
  /** Names the delivery among those of its source. */
  readonly key: string;
  readonly body: Uint8Array;
  readonly read: () => Said;
}

type Deps = Pick<ServerDeps, 'audit' | 'config' | 'now' | 'log'> & Delivering & Bounds;

/** `POST /v1/webhooks/github` and `/standard` (docs/pipelines.md#webhooks-and-ci): verified over the raw body before anything of it is parsed. */
export function webhookRoutes(deps: Deps): Hono {
  const app = new Hono();
  const recent = new Recent<Delivered | null>(REMEMBERED, () => deps.now());
  const { config } = deps;

  const bytes = (context: Context, use: (body: Uint8Array) => Promise<Response>): Promise<Response> =>
    deps.bodies.run((reading) => readBytes(context, reading), use);
  const inTurn = (context: Context, signed: Signed): Promise<Response> =>
    deps.lane.run(() => answer(context, deps, recent, signed), context.req.raw.signal);

  app.post('/github', (context) => {
    const sources = opened('github', config.access.webhooks.github);
    const signature = context.req.header('x-hub-signature-256');
    reject('github', malformedGithub(signature));
    return bytes(context, async (body) => {
      const source = believed('github', signerOfGithub(body, signature, sources));
      const event = required(context, 'X-GitHub-Event');
      if (event !== 'push') return context.body(null, 204);
      // The id of a delivery is not signed: what was signed names it, so that another id makes no other delivery of it.
      const key = keyOf('github', source, digestOf(body));
      const read = (): Said => {
        const push = parseJson(githubJson(context, body), pushSchema);
        reject('github', tooOld(push, deps.now()));
        return saidByPush(push);
      };
      return inTurn(context, { source, key, body, read });
    });
  });

  app.post('/standard', (context) => {
    const sources = opened('standard', config.access.webhooks.standard);
    const headers = standardHeaders(context);
    reject('standard', malformedStandard(headers, deps.now()));
    return bytes(context, async (body) => {
      const source = believed('standard', signerOfStandard(body, headers, sources));
      const key = keyOf('standard', source, headers.id);
      return inTurn(context, { source, key, body, read: () => saidInStandard(textOf(body)) });
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
  deps: Deps,
  recent: Recent<Delivered | null>,
  { source, key, body, read }: Signed,
): Promise<Response> {
  refuse(unfitKey(key));
  const content = digestOf(body);
  const differs = (): Error => conveyorError('key-reused', { key, was: 'another delivery', now: 'another body' });
  const { answer: delivered, again } = await recent.once(
    { key, content, differs },
    async () => {
      const said = read();
      refuse(unfitIn(said));
      if (said !== null) await refuseForeign(deps, source, said);
      const scopes = Object.values(deps.config.access.webhooks).flatMap((all) => all.map(({ scope }) => scope));
      return deliver(deps, { key, actor: source.actor, said: underItsNames(said, scopes) });
    },
    (it) => it !== null && it.left === 0 && it.awaiting.length === 0,
  );
  if (delivered === null) return context.body(null, 204);
  const releases = delivered.releases.map(({ id, duplicate }) => ({ id, duplicate: duplicate || again }));
  const [first] = releases;
  if (first !== undefined) context.header('location', `/v1/releases/${first.id}`);
  return context.json({ ...delivered, releases }, 202);
}

/** @throws ConveyorError `not-in-scope`, `not-permitted`, which are on record: the signature shows whose secret is used for more than it is for. */
async function refuseForeign(deps: Deps, source: WebhookSource, said: NonNullable<Said>): Promise<void> {
  const error = notInScope(deps, source, said) ?? (await notTheirs(deps, source, said));
  if (error === undefined) return;
  const target = 'finder' in said ? `who subscribes to ${said.finder}` : said.pipeline;
  const about = { actor: source.actor, door: 'webhook', operation: 'submit', target, outcome: 'refused' } as const;
  await deps.audit?.record(auditEntry({ ...about, result: `${error.code}: ${error.message}` }));
  throw error;
}

/** Counted and logged besides. */
function notInScope({ metrics, log }: Deps, { name, scope }: WebhookSource, said: NonNullable<Said>) {
  const refused = outOfScope(scope, said);
  if (refused === undefined) return undefined;
  const error = conveyorError('not-in-scope', { source: name, ...refused });
  metrics.outOfScope(name);
  log(`refused: ${error.message}`);
  return error;
}

/** A subscription invites whoever publishes; without one, only an owner may bring something. */
async function notTheirs(
  { client, config }: Deps,
  { actor }: WebhookSource,
  said: NonNullable<Said>,
): Promise<ConveyorError | undefined> {
  if ('finder' in said) return undefined;
  const { owners } = await client.spec(said.pipeline);
  return mayCommand({ owners, groups: config.groups }, actor)
    ? undefined
    : conveyorError('not-permitted', { actor, pipeline: said.pipeline });
}

function saidInStandard(text: string): Said {
  const { type } = parseJson(text, standardSchema.pick({ type: true }));
  return type === PUBLISHED ? saidByStandard(parseJson(text, standardSchema)) : null;
}

const digestOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');

function opened(webhook: WebhookKind, sources: readonly WebhookSource[]): readonly WebhookSource[] {
  if (sources.some(({ secrets }) => secrets.length > 0)) return sources;
  throw conveyorError('webhook-closed', { webhook, variables: sources.flatMap(({ secretEnvs }) => secretEnvs) });
}

function reject(webhook: WebhookKind, why: string | undefined): void {
  if (why !== undefined) throw conveyorError('bad-signature', { webhook, why });
}

function believed(webhook: WebhookKind, signer: WebhookSource | string): WebhookSource {
  if (typeof signer !== 'string') return signer;
  throw conveyorError('bad-signature', { webhook, why: signer });
}

/** Sources give their deliveries names without regard to each other. */
const keyOf = (webhook: WebhookKind, { name }: WebhookSource, delivery: string): string =>
  name === webhook ? `${webhook}:${delivery}` : `${webhook}/${name}:${delivery}`;

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
