import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { conveyorError } from '../domain/errors';
import { framePath, type ApiDeps } from './apiRoute';
import { runAfterBody } from './requestBody';
import { getBearerToken, authenticate } from './auth';
import { Bodies } from './bodies';
import { slackHandler } from './chat/slack';
import { Configuration } from './configuration';
import { getReadPolicy, type ServerDeps } from './deps';
import { RunEndings } from './runEndings';
import { answerFailure } from './failures';
import { RequestGate } from './gate';
import { Metrics } from './metrics';
import { openApiDocument } from './openapi';
import { serveReadPages } from './pages/readPages';
import { answerFailurePage, PAGE_PATHS, servePages, wantsPage } from './pages/routes';
import { PageStreams } from './pages/streams';
import { Readiness } from './readiness';
import { whyNotOpen } from './reads';
import { API_ROUTES } from './routes';
import { shareExamination } from './routes/examination';
import { healthRoutes } from './routes/health';
import { metricsRoutes } from './routes/metrics';
import { createSessions, type Sessions } from './sessions';
import type { PageEnv } from './sessions/viewer';
import { recordAnonymousRequests } from './strangers';
import { Subscribers } from './subscribers';
import { KeyedQueue } from './turns';
import { pagerHandlers } from './webhooks/pagers';
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
  const arriving = new Bodies(bodyBytes, MOST_ARRIVING);
  const { signOuts } = deps;
  const sessions = signOuts && createSessions({ ...deps, signOuts }, lanes.strangers);
  for (const path of ['/v1/*', ...PAGE_PATHS]) {
    app.use(path, recordAnonymousRequests(deps));
    app.use(path, path === '/v1/*' ? requireReadAccess(deps) : requirePageAccess(deps, sessions));
    app.use(path, async (c, next) => {
      if (hasOwnLane(c)) return next();
      const lane = await chooseLane(c, deps);
      const enter = () => lanes[lane].run(next, c.req.raw.signal);
      return lane === 'commands' || lane === 'api' ? runAfterBody(c, arriving, enter) : enter();
    });
  }
  const readiness = new Readiness(deps);
  app.route('/', healthRoutes(readiness));
  const streams = new PageStreams({
    ...{ now: () => deps.now(), isDraining: () => deps.isDraining() },
    onEnd: (why) => metrics.countStreamEnd(why),
  });
  app.route('/metrics', metricsRoutes({ ...deps, readiness, streams }, metrics, lanes));
  app.get('/openapi.json', (c) => c.json(openApiDocument(getReadPolicy(deps))));
  const turns = new KeyedQueue();
  if (sessions) app.route('/', sessions.routes);
  const api: ApiDeps = {
    ...deps,
    ...{ lanes, turns, ended: new RunEndings(deps.client.lookNow, (line) => deps.log(line)) },
    ...{ configuration: new Configuration(deps), configBodies: new Bodies(bodyBytes) },
    webhooks: webhookHandlers({
      ...{ ...deps, now: () => deps.now(), log: (line) => deps.log(line), subscribers, metrics },
      ...{ client: deps.deliveries ?? deps.client, turns: new KeyedQueue() },
      ...{ lane: lanes.webhooks, bodies: new Bodies(bodyBytes) },
    }),
    pagers: pagerHandlers({
      ...{ config: deps.config, now: () => deps.now(), lane: lanes.webhooks, bodies: new Bodies(bodyBytes) },
      ...(deps.answerPage ? { answerPage: deps.answerPage } : {}),
    }),
    slack: slackHandler({
      ...{ ...deps, now: () => deps.now(), log: (line) => deps.log(line) },
      ...{ lane: lanes.commands, bodies: new Bodies(bodyBytes), turns },
    }),
    examination: shareExamination(deps),
  };
  serveReadPages(app, api, sessions);
  for (const { route, respond } of API_ROUTES)
    app.on(route.slice(0, route.indexOf(' ')), framePath(route), (c) => respond(c, api));
  servePages(app, deps, { sessions, turns, streams });
  const fail = (c: Context, error: unknown) =>
    wantsPage(c) ? answerFailurePage(c, error, deps) : answerFailure(c, error);
  app.notFound((c) => fail(c, conveyorError('not-found', { what: `${c.req.method} ${c.req.path}` })));
  app.onError((error, c) => fail(c, error));
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

/** Pages are for readers who have signed in, too. A program reads their JSON with a token, as it reads `/v1`. */
function requirePageAccess(deps: ServerDeps, sessions: Sessions | undefined): MiddlewareHandler {
  const readAccess = requireReadAccess(deps);
  return (c, next) => {
    const isProgram =
      getBearerToken(c) !== '' || (c.req.path.endsWith('.json') && c.req.header('cookie') === undefined);
    return sessions === undefined || isProgram ? readAccess(c, next) : sessions.viewer(c, next);
  };
}

/**
 * A server without tokens is open to this machine alone. Requests must name it by a local address: a web page open in a browser would arrive under
 * its own host name, and so would traffic through a tunnel.
 * @throws ConveyorError `unauthorized`, `identity-unreachable`
 */
async function authorizeRead(c: Context, deps: ServerDeps): Promise<void> {
  const why = whyNotOpen(c, deps);
  if (why === undefined) return;
  if (getReadPolicy(deps) === 'open' && getBearerToken(c) === '')
    throw conveyorError('unauthorized', { why: `without a token ${why}` });
  await authenticate(c, deps);
}

/** Chooses the queue by caller and route before reading the body, so that anonymous requests take no place of known callers. */
async function chooseLane(c: Context, deps: ServerDeps) {
  const hasSignedIn = Boolean((c as Context<PageEnv>).get('viewer'));
  const isKnown =
    hasSignedIn ||
    (await authenticate(c, deps).then(
      () => true,
      () => false,
    ));
  const isStatistics = /^(\/v1\/stats|\/stats(\.json)?)$/.test(c.req.path);
  if (!isKnown) return isStatistics ? 'strangersStatistics' : 'strangers';
  if (isStatistics) return 'statistics';
  if (/^(\/v1)?\/(config|gates)([./]|$)/.test(c.req.path)) return isRead(c) ? 'configuration' : 'proposals';
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
