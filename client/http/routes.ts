import type { Id } from '../../domain/ids';
import type { ConveyorClient } from '../api';

/** A route of `conveyor server` (server/operations.ts). */
export type Route = `${'GET' | 'POST' | 'PUT'} /${string}`;

/** Where what is done depends on whom an id means. */
type ByKind = Readonly<Record<Id['kind'], Route>>;

/** The route of every operation; one without does not compile. Closing a client notifies nobody. */
export const ROUTES = {
  apply: 'PUT /v1/pipelines/{name}',
  exportPipeline: 'GET /v1/pipelines/{name}/export',
  importPipeline: 'POST /v1/pipelines/{name}/import',
  spec: 'GET /v1/pipelines/{name}/spec',
  release: 'POST /v1/pipelines/{name}/releases',
  submit: 'POST /v1/pipelines/{name}/submissions',
  push: 'POST /v1/pipelines/{name}/pushes',
  rerun: 'POST /v1/releases/{pipeline}/{n}/rerun',
  status: {
    pipeline: 'GET /v1/pipelines/{pipeline}',
    release: 'GET /v1/releases/{pipeline}/{n}',
    action: 'GET /v1/releases/{pipeline}/{n}/{action}',
  },
  listPipelines: 'GET /v1/pipelines',
  listReleases: 'GET /v1/releases',
  listDeploys: 'GET /v1/deploys',
  listFinders: 'GET /v1/finders',
  freshness: 'GET /v1/freshness',
  history: 'GET /v1/pipelines/{name}/history',
  logs: 'GET /v1/releases/{pipeline}/{n}/{action}/logs',
  command: {
    pipeline: 'POST /v1/pipelines/{pipeline}/commands/{verb}',
    release: 'POST /v1/releases/{pipeline}/{n}/commands/{verb}',
    action: 'POST /v1/releases/{pipeline}/{n}/{action}/commands/{verb}',
  },
  reportBug: 'POST /v1/bugs',
  closeBug: 'POST /v1/bugs/{n}/close',
  listBugs: 'GET /v1/bugs',
  lookNow: 'POST /v1/runs/{run}/look',
  readiness: 'GET /readyz',
} as const satisfies Readonly<Record<Exclude<keyof ConveyorClient, 'close'>, Route | ByKind>>;

/** As whom the server takes whoever asks, which is not an operation. */
export const ME: Route = 'GET /v1/me';

/** Whether somebody may do something, which is none either. */
export const CAN: Route = 'POST /v1/can';

/** How what stands behind the server works now, which is none either: it starts a workflow of its own. */
export const EXAMINATION: Route = 'POST /v1/examination';

/** Where people may sign in. */
export const OFFERS: Route = 'GET /v1/sign-in';

/** What the server recorded, which is no operation either. */
export const AUDIT: Route = 'GET /v1/audit';
export const AUDIT_VERIFICATION: Route = 'GET /v1/audit/verification';

/** What the archive counts, which is none either. */
export const STATS: Route = 'GET /v1/stats';

/** Repositories of configuration, which are no workflows. */
export const CONFIG = {
  repositories: 'GET /v1/config',
  propose: 'POST /v1/config/{repository}/changes',
  diff: 'POST /v1/config/{repository}/diff',
  changes: 'GET /v1/config/{repository}/changes',
  log: 'GET /v1/config/{repository}/log',
  value: 'GET /v1/config/{repository}/value',
  sources: 'GET /v1/config/{repository}/sources',
  why: 'GET /v1/config/{repository}/why',
  subscriber: 'GET /v1/config/{repository}/subscriber',
} as const satisfies Readonly<Record<string, Route>>;

export type RouteParams = Readonly<Record<string, string | number>>;
export type RouteQuery = Readonly<Record<string, string | number | undefined>>;

/** What fills the route of an id. */
export const paramsOf = (id: Id): RouteParams => ({
  pipeline: id.pipeline,
  ...(id.kind === 'pipeline' ? {} : { n: id.number }),
  ...(id.kind === 'action' ? { action: id.action } : {}),
});

/** The path of a route below the address of a server. A run keeps its slashes; of anything else they would make another path. */
export function pathOf(route: Route, params: RouteParams, query: RouteQuery): string {
  const path = route.slice(route.indexOf('/')).replace(/\{(\w+)\}/g, (_all, name: string) => {
    const value = String(params[name]);
    return name === 'run' ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value);
  });
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

export const methodOf = (route: Route): string => route.slice(0, route.indexOf(' '));
