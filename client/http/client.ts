import { conveyorError } from '../../domain/errors';
import { REQUEST_LIMITS } from '../../domain/limits';
import type { ExaminationView } from '../../domain/examination';
import type { SignInOffer } from '../../domain/signIn';
import { requireAction, requireBug, requireId, requireTarget } from '../../domain/target';
import type { ConveyorClient, ListQuery, LookNow } from '../api';
import type { Question } from '../can';
import { serverReadiness } from './readiness';
import { CAN, EXAMINATION, ME, OFFERS, paramsOf, ROUTES, type Route } from './routes';
import { askServer, type RequestParts, type HttpOptions } from './send';

export type { HttpOptions } from './send';

/**
 * Everything that a program may do with Conveyor, through `conveyor server`. Who acts is who the token belongs to: an `actor` that is given
 * counts for nothing. Nothing is connected before it is asked.
 */
export function createHttpClient(options: HttpOptions): ConveyorClient {
  const ask = <T>(route: Route, asked?: RequestParts): Promise<T> => askServer<T>(options, route, asked);
  const rows = <T>(route: Route, what: string, query: ListQuery): Promise<T[]> => listAll(ask, route, what, query);
  return {
    apply: (spec) => ask(ROUTES.apply, { params: { name: spec.pipeline }, body: spec }),
    exportPipeline: (name) => ask(ROUTES.exportPipeline, { params: { name } }),
    importPipeline: (document) => ask(ROUTES.importPipeline, { params: { name: document.pipeline }, body: document }),
    spec: (name) => ask(ROUTES.spec, { params: { name } }),
    release: (name, artifacts, { kind, key }) =>
      ask(ROUTES.release, { params: { name }, body: { artifacts, trigger: kind === 'manual' ? kind : 'api' }, key }),
    submit: (name, artifacts, { key }) => ask(ROUTES.submit, { params: { name }, body: { artifacts }, key }),
    push: (name, action, artifacts, { actor: _, key = null, ...how }) =>
      ask(ROUTES.push, { params: { name }, body: { action, artifacts, ...how }, key }),
    rerun: (pipeline, n, { kind = 'manual', reason, key = null }) =>
      ask(ROUTES.rerun, { params: { pipeline, n }, body: { trigger: kind, reason }, key }),
    status: async (text) => {
      const id = requireId(text);
      return ask(ROUTES.status[id.kind], { params: paramsOf(id), query: NOW });
    },
    listPipelines: (query) => rows(ROUTES.listPipelines, 'pipelines', query),
    listReleases: (query) => rows(ROUTES.listReleases, 'releases', query),
    listDeploys: (query) => rows(ROUTES.listDeploys, 'deploys', query),
    listFinders: () => ask(ROUTES.listFinders),
    freshness: () => ask(ROUTES.freshness),
    history: (name) => ask(ROUTES.history, { params: { name }, query: NOW }),
    logs: async (text, attempt) => ask(ROUTES.logs, { params: paramsOf(requireAction(text)), query: { attempt } }),
    command: async (text, verb, { actor: _, ...input }) => {
      const id = requireTarget(text, verb);
      return ask(ROUTES.command[id.kind], { params: { ...paramsOf(id), verb }, body: input });
    },
    reportBug: (report) => ask(ROUTES.reportBug, { body: report }),
    closeBug: async ({ id, to, reason }) =>
      ask(ROUTES.closeBug, { params: { n: requireBug(id) }, body: { to, reason } }),
    listBugs: () => ask(ROUTES.listBugs),
    lookNow: async (run) => (await ask<{ readonly look: LookNow }>(ROUTES.lookNow, { params: { run } })).look,
    readiness: () => serverReadiness(options),
    close: () => Promise.resolve(),
  };
}

/** Earlier views are for whoever asks for them (client/lastKnown.ts). */
const NOW = { live: 'true' } as const;

/** As whom the server takes whoever asks. */
export interface Me {
  readonly principal: string;
  readonly groups: readonly string[];
  /** How they came in. */
  readonly door: string;
  readonly expiresAt: string | null;
}

/** @throws ConveyorError `unauthorized`, `server-unreachable` */
export const whoAmI = (options: HttpOptions): Promise<Me> => askServer<Me>(options, ME);

/** A decision, by the rules of a server. */
export interface PermissionAnswer {
  readonly allowed: boolean;
  /** The rule, and the group through which; null where none allows it. */
  readonly by: string | null;
  readonly through: string | null;
  readonly why: string;
}

/** @throws ConveyorError `unauthorized`, `server-unreachable`; `usage` and `invalid-id` for what cannot be asked */
export const whether = (options: HttpOptions, question: Question): Promise<PermissionAnswer> =>
  askServer<PermissionAnswer>(options, CAN, { body: question });

/**
 * How far work comes behind a server: takes half a minute on a bad night.
 * @throws ConveyorError `unauthorized`, `server-unreachable`; `not-found` from a server that is older
 */
export const examineBehind = (options: HttpOptions): Promise<ExaminationView> =>
  askServer<ExaminationView>(options, EXAMINATION);

/** Where somebody may sign in; nobody needs a token to ask. */
export const signInOffers = (options: HttpOptions): Promise<readonly SignInOffer[]> =>
  askServer<readonly SignInOffer[]>(options, OFFERS);

/** Whoever wants more than a server answers at once gets all of them, or an error: never a part that looks whole. */
async function listAll<T>(
  ask: (route: Route, asked: RequestParts) => Promise<T[]>,
  route: Route,
  what: string,
  { pipeline, state, limit }: ListQuery,
): Promise<T[]> {
  const { max } = REQUEST_LIMITS.rows;
  const found = await ask(route, { query: { pipeline, state, limit: Math.min(limit, max) } });
  if (limit <= max || found.length < max) return found;
  throw conveyorError('usage', {
    text: `there are more than ${max} ${what}, which a server does not list at once`,
    hint: `name the pipeline, or ask for ${max} at most`,
  });
}
