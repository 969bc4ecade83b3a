import type { Context } from 'hono';
import type { z } from 'zod';
import type { Route } from '../client/operations/row';
import type { Verb } from '../domain/verbs';
import { authenticate, type Caller } from './auth';
import type { Bodies } from './bodies';
import { parseQuery, readJson } from './body';
import type { Configuration } from './configuration';
import type { FrontClient, ServerDeps } from './deps';
import type { RunEndings } from './runEndings';
import type { RequestGate } from './gate';
import type { SharedReader } from './sharedRead';
import type { KeyedQueue } from './turns';
import type { SlackHandler } from './chat/slack';
import type { PagerHandlers } from './webhooks/pagers';
import type { WebhookHandlers } from './webhooks/routes';

/** One route of `/v1`: `/openapi.json` describes it, docs/reference/api.md lists it, and the server answers it. */
export interface ApiRoute {
  readonly route: Route;
  readonly summary: string;
  readonly status: 200 | 201 | 202 | 204;
  /** `read`: readers need a token if `reads` of the configuration requires one. */
  readonly security: 'read' | 'token' | 'signed' | 'key';
  readonly request?: z.ZodType;
  readonly answer?: z.ZodType;
  /** The query parameters. */
  readonly query?: z.ZodObject;
  /** The words for `{verb}`. */
  readonly verbs?: readonly Verb[];
  readonly headers?: readonly (readonly [name: string, required: boolean, description: string])[];
  /** Responses in addition to the common errors. */
  readonly also?: Readonly<Record<number, string>>;
  readonly respond: (c: Context, deps: ApiDeps) => Response | Promise<Response>;
}

/** The dependencies of all routes. */
export interface ApiDeps extends ServerDeps {
  readonly turns: KeyedQueue;
  readonly ended: RunEndings;
  readonly lanes: Readonly<Record<'runs' | 'examinations', RequestGate>>;
  readonly configuration: Configuration;
  /** Bodies of requests about configuration. */
  readonly configBodies: Bodies;
  readonly webhooks: WebhookHandlers;
  readonly pagers: PagerHandlers;
  readonly slack: SlackHandler;
  readonly examination?: SharedReader<object>;
}

interface Call<Query extends z.ZodObject> {
  readonly c: Context;
  readonly deps: ApiDeps;
  /** The client of the server itself if reading is open to all, else one for the caller. */
  readonly client: FrontClient;
  /** @throws ConveyorError `invalid-request` */
  readonly query: () => z.output<Query>;
}

export interface CallerCall<
  Body extends z.ZodType = z.ZodType,
  Query extends z.ZodObject = z.ZodObject,
> extends Call<Query> {
  readonly caller: Caller;
  /** The principal of the caller. */
  readonly actor: string;
  /** @throws ConveyorError `invalid-request` and the errors of `readBytes` */
  readonly body: () => Promise<z.output<Body>>;
}

type RouteDescription = Omit<ApiRoute, 'route' | 'status' | 'security' | 'respond'> & Partial<Pick<ApiRoute, 'status'>>;

type LookRoute<Query extends z.ZodObject> = RouteDescription & {
  readonly query?: Query;
  readonly run: (call: Call<Query>) => object | Promise<object>;
};

type CallerRoute<Body extends z.ZodType, Query extends z.ZodObject, Answer extends object> = RouteDescription & {
  readonly request?: Body;
  readonly query?: Query;
  readonly run: (call: CallerCall<Body, Query>) => Answer | Promise<Answer>;
  /** The URL of the created resource. */
  readonly location?: (answer: Answer) => string | null;
};

export const REFUSED = { 403: 'Not an owner', 404: 'There is no such thing', 409: 'Not in this state' };

/** A route for all readers. */
export const lookRoute = <Query extends z.ZodObject>(route: Route, { run, ...row }: LookRoute<Query>): ApiRoute => ({
  ...{ route, status: 200, security: 'read', also: { 404: REFUSED[404] }, ...row },
  respond: async (c, deps) => c.json(await run({ c, deps, client: deps.client, query: queryReader(c, row) })),
});

/** A route for callers with a token, who are known before anything of their request is read. */
export const callerRoute = <Body extends z.ZodType, Query extends z.ZodObject, Answer extends object>(
  route: Route,
  { run, location, ...row }: CallerRoute<Body, Query, Answer>,
): ApiRoute => ({
  ...{ route, status: 200, security: 'token', ...row },
  respond: async (c, deps) => {
    const caller = await authenticate(c, deps);
    const { client, principal: actor } = caller;
    const body = async () => (row.request === undefined ? {} : await readJson(c, row.request)) as z.output<Body>;
    const answer = await run({ c, deps, client, caller, actor, body, query: queryReader(c, row) });
    const place = location?.(answer) ?? null;
    if (place !== null) c.header('location', place);
    return c.json(answer, row.status === 201 || row.status === 202 ? row.status : 200);
  },
});

const queryReader = <Query extends z.ZodObject>(c: Context, { query }: { readonly query?: Query }) =>
  (() => (query === undefined ? {} : parseQuery(c, query))) as () => z.output<Query>;

interface StartAnswer {
  /** Null while nothing has started. */
  readonly id: string | null;
}

/** A route that starts a release; the same key starts it once. */
export const startRoute = <Body extends z.ZodType, Query extends z.ZodObject, Answer extends StartAnswer>(
  route: Route,
  row: CallerRoute<Body, Query, Answer>,
): ApiRoute =>
  callerRoute(route, {
    ...{ ...row, status: 202 },
    headers: [['Idempotency-Key', false, 'The same key gives the same release.']],
    also: { ...REFUSED, 422: 'An artifact is missing, or none of the pipeline' },
    location: ({ id }) => id && `/v1/releases/${id}`,
  });

/** The path of a route in the framework's notation. The id of a run has slashes. */
export const framePath = (route: Route): string =>
  route
    .slice(route.indexOf('/'))
    .replace(/\{(\w+)\}/g, (_all, name: string) => (name === 'run' ? ':run{.+}' : `:${name}`));
