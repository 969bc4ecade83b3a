import { conveyorError } from '../../domain/errors';
import { REQUEST_LIMITS } from '../../domain/limits';
import { requireAction, requireId } from '../../domain/target';
import type { ListQuery } from '../api';
import { buildApplyEntry } from './entries';
import type { OperationRows, RequestParts, Route } from './row';

/** Earlier views are for callers who ask for them (client/lastKnown.ts). */
const NOW = { live: 'true' } as const;

/** Operations on pipelines, and reads of their releases and deploys. */
export const PIPELINE_OPERATIONS = {
  apply: {
    route: 'PUT /v1/pipelines/{name}',
    request: (spec) => ({ params: { name: spec.pipeline }, body: spec }),
    access: 'apply',
    permit: async (gate, spec, actor) => [spec, actor, await gate.toApply('apply', spec, actor)],
    audit: (spec, actor) => ({ actor, target: spec.pipeline, came: (done) => buildApplyEntry(spec, done) }),
  },
  importPipeline: {
    route: 'POST /v1/pipelines/{name}/import',
    request: (document) => ({ params: { name: document.pipeline }, body: document }),
    access: 'import',
    permit: async (gate, document, actor) => [document, actor, await gate.toApply('import', document.spec, actor)],
    audit: ({ pipeline, spec }, actor) => ({ actor, target: pipeline, came: (done) => buildApplyEntry(spec, done) }),
  },
  exportPipeline: { access: 'read', route: 'GET /v1/pipelines/{name}/export', request: byName },
  spec: { access: 'read', route: 'GET /v1/pipelines/{name}/spec', request: byName },
  history: {
    ...{ access: 'read', route: 'GET /v1/pipelines/{name}/history' },
    request: (name) => ({ params: { name }, query: NOW }),
  },
  offers: { access: 'read', route: 'GET /v1/pipelines/{name}/offers', request: byName },
  status: {
    route: {
      pipeline: 'GET /v1/pipelines/{name}',
      release: 'GET /v1/releases/{pipeline}/{n}',
      action: 'GET /v1/releases/{pipeline}/{n}/{action}',
    },
    request: (id) => ({ id: requireId(id), query: NOW }),
    access: 'read',
  },
  logs: {
    route: 'GET /v1/releases/{pipeline}/{n}/{action}/logs',
    request: (id, attempt) => ({ id: requireAction(id), query: { attempt } }),
    access: 'read',
  },
  listPipelines: list('GET /v1/pipelines', 'pipelines'),
  listReleases: list('GET /v1/releases', 'releases'),
  listDeploys: list('GET /v1/deploys', 'deploys'),
  /** The answer counts the offers that were left out. */
  listOffers: {
    ...{ access: 'read', route: 'GET /v1/offers' },
    request: ({ to, limit }) => ({ query: { to, limit: Math.min(limit, REQUEST_LIMITS.rows.max) } }),
  },
  where: {
    ...{ access: 'read', route: 'GET /v1/where' },
    request: ({ revision, limit }) => ({ query: { revision, limit: Math.min(limit, REQUEST_LIMITS.rows.max) } }),
  },
  listFinders: { route: 'GET /v1/finders', access: 'read' },
} as const satisfies Partial<OperationRows>;

function byName(name: string): RequestParts {
  return { params: { name } };
}

/** All rows or an error: a partial list must never look complete. @throws ConveyorError `usage` */
function list(route: Route, of: string) {
  const { max } = REQUEST_LIMITS.rows;
  return {
    ...({ access: 'read', route } as const),
    request: ({ pipeline, state, limit }: ListQuery) => ({ query: { pipeline, state, limit: Math.min(limit, max) } }),
    answer: (body: unknown, { limit }: ListQuery) => {
      const rows = body as never[];
      if (limit <= max || rows.length < max) return rows;
      throw conveyorError('usage', {
        text: `there are more than ${max} ${of}, which a server does not list at once`,
        hint: `name the pipeline, or ask for ${max} at most`,
      });
    },
  };
}
