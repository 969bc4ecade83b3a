import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { conveyorError } from '../domain/errors';
import { isLocalName } from '../sdk/localOnly';
import { framePath, type ApiDeps } from './apiRoute';
import { runAfterBody } from './requestBody';
import { getBearerToken, authenticate } from './auth';
import { Bodies } from './bodies';
import { Configuration } from './configuration';
import { getReadPolicy, type ServerDeps } from './deps';
import { RunEndings } from './runEndings';
import { answerFailure } from './failures';
import { RequestGate } from './gate';
import { Metrics } from './metrics';
import { openApiDocument } from './openapi';
import { Readiness } from './readiness';
import { API_ROUTES } from './routes';
import { shareExamination } from './routes/examination';
import { healthRoutes } from './routes/health';
import { metricsRoutes } from './routes/metrics';
import { recordAnonymousRequests } from './strangers';
import { Subscribers } from './subscribers';
import { KeyedQueue } from './turns';
import { webhookHandlers } from './webhooks/routes';

/**
 * The front end (docs/reference/api.md): webhooks, the API, health and metrics. Its state is only a cache, so it can be called in-process, killed at
 * any moment, and run more than once.
 */
export function createApp(deps: ServerDeps): Hono {
  const app = new Hono();
  const metrics = new Metrics();
  const { bodyBytes, ...limits } = deps.limits;
  const lanes = {
    ...{
      webhooks: new RequestGate(limits.webhooks),
      runs: new RequestGate(limits.runs),
      commands: new RequestGate(limits.commands),
    },
    ...{ api: new RequestGate(limits.api), strangers: new RequestGate(limits.strangers) },
    ...{ configuration: new RequestGate(limits.configuration), proposals: new RequestGate(limits.proposals) },
    ...{ statistics: new RequestGate(limits.statistics), strangersStatistics: new RequestGate(limits.statistics) },
    examinations: new RequestGate(limits.examinations),
  };
  const subscribers = new Subscribers(deps.index, () => deps.now());
  app.use(measureRequests(metrics, deps));
  if (deps.devLogin) app.use(withHeader('conveyor-login', 'development'));
  app.use('/v1/*', recordAnonymousRequests(deps));
  app.use('/v1/*', requireReadAccess(deps));
  const arriving = new Bodies(bodyBytes, MOST_ARRIVING);
  app.use('/v1/*', async (c, next) => {
    if (hasOwnLane(c)) return next();
    const lane = await chooseLane(c, deps);
    const enter = () => lanes[lane].run(next, c.req.raw.signal);
    return lane === 'commands' || lane === 'api' ? runAfterBody(c, arriving, enter) : enter();
  });
  const readiness = new Readiness(deps);
  app.route('/', healthRoutes(readiness));
  app.route('/metrics', metricsRoutes({ ...deps, readiness }, metrics, lanes));
  app.get('/openapi.json', (c) => c.json(openApiDocument(getReadPolicy(deps))));
  const api: ApiDeps = {
    ...deps,
    ...{ lanes, turns: new KeyedQueue(), ended: new RunEndings(deps.client.lookNow, (line) => deps.log(line)) },
    ...{ configuration: new Configuration(deps), configBodies: new Bodies(bodyBytes) },
    webhooks: webhookHandlers({
      ...{ ...deps, now: () => deps.now(), log: (line) => deps.log(line), subscribers, metrics },
      ...{ client: deps.deliveries ?? deps.client, turns: new KeyedQueue() },
      ...{ lane: lanes.webhooks, bodies: new Bodies(bodyBytes) },
    }),
    examination: shareExamination(deps),
  };
  for (const { route, respond } of API_ROUTES)
    app.on(route.slice(0, route.indexOf(' ')), framePath(route), (c) => respond(c, api));
  app.notFound((c) => answerFailure(c, conveyorError('not-found', { what: `${c.req.method} ${c.req.path}` })));
  app.onError((error, c) => answerFailure(c, error));
  return app;
}

/** The most request bodies that callers with a token may be sending at once. */
const MOST_ARRIVING = 1_000;

/** Headers of every answer. */
const withHeader =
  (name: string, value: string): MiddlewareHandler =>
  async (c, next) => {
    await next();
    c.header(name, value);
  };

/** Routes that check their caller themselves and queue the request only afterwards. */
const hasOwnLane = (c: Context): boolean => /^\/v1\/((webhooks|runs)\/|examination$)/.test(c.req.path);

/** Identifies readers before any work, so that anonymous requests never wait in a queue. */
const requireReadAccess =
  (deps: ServerDeps): MiddlewareHandler =>
  async (c, next) => {
    if (c.req.path !== '/v1/sign-in' && isRead(c)) await authorizeRead(c, deps);
    await next();
  };

/**
 * A server without tokens is open to this machine alone. Requests must name it by a local address: a web page open in a browser would arrive under
 * its own host name, and so would traffic through a tunnel.
 * @throws ConveyorError `unauthorized`, `identity-unreachable`
 */
async function authorizeRead(c: Context, deps: ServerDeps): Promise<void> {
  const isOpen = getReadPolicy(deps) === 'open';
  const from = deps.config.access.reads === null ? whyNotLocal(c) : undefined;
  if (isOpen && from === undefined) return;
  if (isOpen && getBearerToken(c) === '')
    throw conveyorError('unauthorized', { why: `without a token only this machine may read, and ${from}` });
  await authenticate(c, deps);
}

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host'] as const;

/** Why a request may not come from this machine, although its connection does. */
function whyNotLocal(c: Context): string | undefined {
  const { host } = new URL(c.req.url);
  if (!isLocalName(host)) return `${host} is not one of its names`;
  return FORWARDED.some((name) => c.req.header(name) !== undefined) ? 'this came through a proxy' : undefined;
}

/** Chooses the queue by caller and route before reading the body, so that anonymous requests take no place of known callers. */
async function chooseLane(c: Context, deps: ServerDeps) {
  const isKnown = await authenticate(c, deps).then(
    () => true,
    () => false,
  );
  const isStatistics = c.req.path === '/v1/stats';
  if (!isKnown) return isStatistics ? 'strangersStatistics' : 'strangers';
  if (isStatistics) return 'statistics';
  if (/^\/v1\/config(\/|$)/.test(c.req.path)) return isRead(c) ? 'configuration' : 'proposals';
  return isRead(c) ? 'api' : 'commands';
}

/** Queries with a body are reads, too. */
const isRead = (c: Context): boolean => ['GET', 'HEAD'].includes(c.req.method) || c.req.path === '/v1/can';

const measureRequests =
  (metrics: Metrics, { now, isDraining }: Pick<ServerDeps, 'now' | 'isDraining'>): MiddlewareHandler =>
  async (c, next) => {
    const startedAtMs = now();
    await next();
    // A connection kept open would bring further requests, and keep the process from ending.
    if (isDraining()) c.header('connection', 'close');
    const pattern = routePath(c, -1);
    // An unknown path has no pattern, and a path must not become a label.
    const route = pattern.endsWith('*') ? 'none' : pattern;
    metrics.countAnswer({ method: c.req.method, route, status: c.res.status, seconds: (now() - startedAtMs) / 1000 });
  };
