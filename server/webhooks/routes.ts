import type { Context } from 'hono';
import { auditEntry } from '../../domain/audit/record';
import { conveyorError, type ConveyorError } from '../../domain/errors';
import { unfitKey } from '../../domain/excess';
import { outOfScope } from '../../domain/finder/scope';
import { mayCommand } from '../../domain/principals';
import type { WebhookKind, WebhookSource } from '../../settings/access';
import type { Bodies } from '../bodies';
import { parseJsonBody, readBytes, rejectInvalidInput } from '../body';
import type { ServerDeps } from '../deps';
import type { RequestGate } from '../gate';
import type { IgnoredWhy } from '../metrics';
import { deliver, isUnknownPipeline, type DeliveryResult, type DeliveryDeps } from './deliver';
import {
  PUBLISHED,
  pushSchema,
  parsePush,
  parseStandardData,
  standardSchema,
  whyTooOld,
  addRepositoryNames,
  findInvalidInput,
  type WebhookEvent,
} from './events';
import { RecentAnswers } from './recent';
import { whyMalformedGithub, whyMalformedStandard, findGithubSigner, findStandardSigner } from './signature';
import { sha256 } from '../../sdk/digest';

/** Answers of the last minute; a later redelivery goes to the pipelines again. */
const REMEMBERED_DELIVERIES = { entries: 2_000, ageMs: 60_000 };

interface Bounds {
  /** The queue for authenticated deliveries. */
  readonly lane: RequestGate;
  readonly bodies: Bodies;
}

/** An authenticated delivery that is not parsed yet. */
interface SignedDelivery {
  readonly source: WebhookSource;
  /** Identifies the delivery among those of its source. */
  readonly key: string;
  readonly body: Uint8Array;
  readonly read: () => WebhookEvent;
}

type WebhookDeps = Pick<ServerDeps, 'audit' | 'config' | 'now' | 'log'> & DeliveryDeps & Bounds;

/** A handler for each kind of delivery. */
export type WebhookHandlers = Readonly<Record<WebhookKind, (context: Context) => Promise<Response>>>;

/** Deliveries (docs/reference/pipelines.md#webhooks-and-ci) are verified over the raw body before any part of it is parsed. */
export function webhookHandlers(deps: WebhookDeps): WebhookHandlers {
  const recent = new RecentAnswers<DeliveryResult | null>(REMEMBERED_DELIVERIES, () => deps.now());
  const { config } = deps;

  const bytes = (context: Context, use: (body: Uint8Array) => Promise<Response>): Promise<Response> =>
    deps.bodies.run((reading) => readBytes(context, reading), use);
  const inTurn = (context: Context, signed: SignedDelivery): Promise<Response> =>
    deps.lane.run(() => answerDelivery(context, deps, recent, signed), context.req.raw.signal);

  const github = async (context: Context): Promise<Response> => {
    const sources = requireSecrets('github', config.access.webhooks.github);
    const signature = context.req.header('x-hub-signature-256');
    reject('github', whyMalformedGithub(signature));
    return bytes(context, async (body) => {
      const source = requireSigner('github', findGithubSigner(body, signature, sources));
      const event = requireHeader(context, 'X-GitHub-Event');
      if (event !== 'push') return answerIgnored(context, deps, 'event');
      // The delivery id is not signed, so the key is derived from the signed body: a changed id does not make a new
      // delivery.
      const key = deliveryKey('github', source, sha256(body));
      const read = (): WebhookEvent => {
        const push = parseJsonBody(githubJson(body), pushSchema);
        reject('github', whyTooOld(push, deps.now()));
        return parsePush(push);
      };
      return inTurn(context, { source, key, body, read });
    });
  };

  const standard = async (context: Context): Promise<Response> => {
    const sources = requireSecrets('standard', config.access.webhooks.standard);
    const headers = standardHeaders(context);
    reject('standard', whyMalformedStandard(headers, deps.now()));
    return bytes(context, async (body) => {
      const source = requireSigner('standard', findStandardSigner(body, headers, sources));
      const key = deliveryKey('standard', source, headers.id);
      return inTurn(context, { source, key, body, read: () => readStandardEvent(bodyText(body)) });
    });
  };
  return { github, standard };
}

/**
 * 202 with the result, 204 if no pipeline subscribes. A repeated delivery gets the same answer; a different delivery
 * under the same key is refused while the first is remembered.
 */
async function answerDelivery(
  context: Context,
  deps: WebhookDeps,
  recent: RecentAnswers<DeliveryResult | null>,
  { source, key, body, read }: SignedDelivery,
): Promise<Response> {
  rejectInvalidInput(unfitKey(key));
  const content = sha256(body);
  const differs = (): Error => conveyorError('key-reused', { key, was: 'another delivery', now: 'another body' });
  const { answer: delivered, again } = await recent.once(
    { key, content, differs },
    async () => {
      const event = readOrCountRefusal(deps, source, read);
      if (event !== null) await refuseForeign(deps, source, event);
      const scopes = Object.values(deps.config.access.webhooks).flatMap((all) => all.map(({ scope }) => scope));
      const came = await deliver(deps, { key, actor: source.actor, event: addRepositoryNames(event, scopes) });
      if (came === null) deps.metrics.countIgnored(event === null ? 'nothing' : 'nobody');
      return came;
    },
    (it) => it !== null && it.left === 0 && it.awaiting.length === 0,
  );
  if (delivered === null) return context.body(null, 204);
  const releases = delivered.releases.map(({ id, duplicate }) => ({ id, duplicate: duplicate || again }));
  const [[first], [waiting]] = [releases, delivered.awaiting];
  if (first !== undefined) context.header('location', `/v1/releases/${first.id}`);
  else if (waiting !== undefined) context.header('location', `/v1/pipelines/${waiting.pipeline}`);
  return context.json({ ...delivered, releases }, 202);
}

/** Returns a refusal, and also counts and logs it, because many senders show the response to no one. @throws ConveyorError */
function readOrCountRefusal(
  { metrics, log }: WebhookDeps,
  { name }: WebhookSource,
  read: () => WebhookEvent,
): WebhookEvent {
  try {
    const event = read();
    rejectInvalidInput(findInvalidInput(event));
    return event;
  } catch (error) {
    metrics.countIgnored('unreadable');
    log(`a delivery of ${name} is refused: ${(error as Error).message}`);
    throw error;
  }
}

function answerIgnored(context: Context, { metrics }: WebhookDeps, why: IgnoredWhy): Response {
  metrics.countIgnored(why);
  return context.body(null, 204);
}

/**
 * @throws ConveyorError `not-in-scope` or `not-permitted`, and records it: the signature shows whose secret was
 * misused.
 */
async function refuseForeign(
  deps: WebhookDeps,
  source: WebhookSource,
  event: NonNullable<WebhookEvent>,
): Promise<void> {
  const error = createScopeRefusal(deps, source, event) ?? (await createOwnerRefusal(deps, source, event));
  if (error === undefined) return;
  const target = 'finder' in event ? `who subscribes to ${event.finder}` : event.pipeline;
  const about = { actor: source.actor, door: 'webhook', operation: 'submit', target, outcome: 'refused' } as const;
  await deps.audit?.record(auditEntry({ ...about, result: `${error.code}: ${error.message}` }));
  throw error;
}

/** Counts and logs the refusal, too. */
function createScopeRefusal(
  { metrics, log }: WebhookDeps,
  { name, scope }: WebhookSource,
  event: NonNullable<WebhookEvent>,
) {
  const refused = outOfScope(scope, event);
  if (refused === undefined) return undefined;
  const error = conveyorError('not-in-scope', { source: name, ...refused });
  metrics.countOutOfScope(name);
  log(`refused: ${error.message}`);
  return error;
}

/** A subscription authorizes any publisher; without one, only an owner may submit. */
async function createOwnerRefusal(
  { client, config }: WebhookDeps,
  { actor }: WebhookSource,
  event: NonNullable<WebhookEvent>,
): Promise<ConveyorError | undefined> {
  if ('finder' in event) return undefined;
  const spec = await client.spec(event.pipeline).catch((error: unknown) => {
    if (isUnknownPipeline(error)) return undefined;
    throw error;
  });
  // A delivery for an unknown pipeline has no recipient.
  return spec === undefined || mayCommand({ owners: spec.owners, groups: config.groups }, actor)
    ? undefined
    : conveyorError('not-permitted', { actor, pipeline: event.pipeline });
}

function readStandardEvent(text: string): WebhookEvent {
  const { type } = parseJsonBody(text, standardSchema.pick({ type: true }));
  return type === PUBLISHED ? parseStandardData(parseJsonBody(text, standardSchema)) : null;
}

function requireSecrets(webhook: WebhookKind, sources: readonly WebhookSource[]): readonly WebhookSource[] {
  if (sources.some(({ secrets }) => secrets.length > 0)) return sources;
  throw conveyorError('webhook-closed', { webhook, variables: sources.flatMap(({ secretEnvs }) => secretEnvs) });
}

function reject(webhook: WebhookKind, why: string | undefined): void {
  if (why !== undefined) throw conveyorError('bad-signature', { webhook, why });
}

function requireSigner(webhook: WebhookKind, signer: WebhookSource | string): WebhookSource {
  if (typeof signer !== 'string') return signer;
  throw conveyorError('bad-signature', { webhook, why: signer });
}

/** Delivery ids are unique only within their source. */
const deliveryKey = (webhook: WebhookKind, { name }: WebhookSource, delivery: string): string =>
  name === webhook ? `${webhook}:${delivery}` : `${webhook}/${name}:${delivery}`;

/**
 * GitHub sends JSON or a form that contains only JSON, depending on the hook's settings. The body decides which, since it is signed and
 * `Content-Type` is not: a forged type could turn the text of a commit message into the payload.
 */
function githubJson(body: Uint8Array): string {
  const text = bodyText(body);
  return text.startsWith(FORM) ? (new URLSearchParams(text).get('payload') ?? '') : text;
}

const FORM = 'payload=';

const bodyText = (body: Uint8Array): string => Buffer.from(body).toString('utf8');

function requireHeader(context: Context, header: string): string {
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
