import type { Context } from 'hono';
import { CLIENT_OPERATIONS } from '../../client/operations';
import { conveyorError } from '../../domain/errors';
import { over, unfitCommand } from '../../domain/excess';
import { SPEC_LIMITS } from '../../domain/limits';
import type { PipelineDocument } from '../../domain/pipeline/document';
import { jsonBytes } from '../../domain/size';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import { documentSchema, specProblems } from '../../domain/spec/pipelineDocument';
import { callerRoute, lookRoute, REFUSED, startRoute, type ApiRoute } from '../apiRoute';
import { rejectInvalidInput } from '../body';
import * as changes from '../changes';
import { pipelineOffersAnswer } from '../offerSchemas';
import { historyOrLastKnown, statusOrLastKnown } from '../lastKnown';
import { pipelineParam, parseArtifacts, requestKey } from '../requests';
import * as schemas from '../schemas';
import { commandRoute } from './commands';

const TOO_LARGE = { 413: 'Larger than docs/reference/limits.md allows' };

/** `/v1/pipelines`: readers may look; callers who change something need a token. Answers are those of `-o json`. */
export const PIPELINE_ROUTES: readonly ApiRoute[] = [
  lookRoute(CLIENT_OPERATIONS.listPipelines.route, {
    summary: 'Pipelines, as `conveyor list pipelines` shows them',
    ...{ answer: schemas.pipelinesAnswer, query: schemas.listQuery },
    run: ({ client, query }) => client.listPipelines(query()),
  }),
  lookRoute(CLIENT_OPERATIONS.status.route.pipeline, {
    summary: 'The status of a pipeline',
    ...{ answer: schemas.pipelineAnswer, query: schemas.liveQuery },
    run: ({ c, client }) => statusOrLastKnown(c, client, pipelineParam(c)),
  }),
  callerRoute(CLIENT_OPERATIONS.apply.route, {
    summary: 'Creates the pipeline, or changes its spec',
    ...{ request: changes.applyRequest, answer: changes.appliedAnswer },
    also: { ...REFUSED, ...TOO_LARGE, 422: 'A push type refuses the config of a deploy' },
    run: async ({ c, deps, client, actor, body }) => {
      const spec = requireSound(c, (await body()) as unknown as PipelineSpec);
      return deps.turns.run(spec.pipeline, () => client.apply(spec, actor));
    },
  }),
  lookRoute(CLIENT_OPERATIONS.spec.route, {
    summary: 'The spec of the pipeline, as stored',
    answer: changes.applyRequest,
    run: ({ c, client }) => client.spec(pipelineParam(c)),
  }),
  lookRoute(CLIENT_OPERATIONS.history.route, {
    summary: 'Releases of the pipeline, newest first',
    ...{ answer: schemas.historyAnswer, query: schemas.liveQuery },
    run: ({ c, client }) => historyOrLastKnown(c, client, pipelineParam(c)),
  }),
  lookRoute(CLIENT_OPERATIONS.offers.route, {
    summary: 'The offers of the pipeline with their values and users, as `conveyor offers show` shows them',
    answer: pipelineOffersAnswer,
    run: ({ c, client }) => client.offers(pipelineParam(c)),
  }),
  lookRoute(CLIENT_OPERATIONS.exportPipeline.route, {
    summary: 'Exports everything that the pipeline remembers, even after its workflow has ended',
    answer: documentSchema,
    run: ({ c, client }) => client.exportPipeline(pipelineParam(c)),
  }),
  callerRoute(CLIENT_OPERATIONS.importPipeline.route, {
    summary: 'Restores an export',
    ...{ request: documentSchema, answer: changes.appliedAnswer },
    also: { ...REFUSED, ...TOO_LARGE },
    run: async ({ c, deps, client, actor, body }) => {
      const document = (await body()) as unknown as PipelineDocument;
      requireName(c, document.pipeline);
      return deps.turns.run(document.pipeline, () => client.importPipeline(document, actor));
    },
  }),
  startRoute(CLIENT_OPERATIONS.release.route, {
    summary: 'Starts a release of some artifact versions',
    ...{ request: schemas.releaseRequest, answer: schemas.startedAnswer },
    run: async ({ c, deps, client, actor, body }) => {
      const { artifacts, trigger: kind, reason, idempotencyKey } = await body();
      const given = parseArtifacts(artifacts);
      const why = reason === undefined ? {} : { reason };
      rejectInvalidInput(unfitCommand({ actor, ...why }));
      const trigger = { kind, actor, key: requestKey(c, idempotencyKey), ...why } as const;
      const pipeline = pipelineParam(c);
      return deps.turns.run(pipeline, () => client.release(pipeline, given, trigger));
    },
  }),
  startRoute(CLIENT_OPERATIONS.push.route, {
    summary: 'Emergency: deploys these versions now, ahead of the queue',
    ...{ request: changes.pushRequest, answer: changes.pushedAnswer },
    run: async ({ c, deps, client, actor, body }) => {
      const { action, artifacts, reason, skipBake, idempotencyKey } = await body();
      if (reason === undefined) throw conveyorError('missing-reason', { verb: 'push' });
      rejectInvalidInput(unfitCommand({ actor, reason }));
      const [given, key] = [parseArtifacts(artifacts), requestKey(c, idempotencyKey)];
      const push = { actor, reason, ...(skipBake ? { skipBake } : {}), ...(key === null ? {} : { key }) };
      const pipeline = pipelineParam(c);
      return deps.turns.run(pipeline, () => client.push(pipeline, action, given, push));
    },
  }),
  startRoute(CLIENT_OPERATIONS.submit.route, {
    summary: 'Submits artifacts made elsewhere; starts a release once every input has a value and one is new',
    ...{ request: changes.submitRequest, answer: changes.submittedAnswer },
    run: async ({ c, deps, client, actor, body }) => {
      const { artifacts, idempotencyKey } = await body();
      const [pipeline, given, key] = [pipelineParam(c), parseArtifacts(artifacts), requestKey(c, idempotencyKey)];
      return deps.turns.run(pipeline, () => client.submit(pipeline, given, { kind: 'webhook', actor, key }));
    },
  }),
  commandRoute(CLIENT_OPERATIONS.command.route.pipeline, 'a pipeline', schemas.pipelineVerb.options, pipelineParam),
];

/** The number of problems worth reading. */
const MAX_PROBLEMS_SHOWN = 10;

/** The pipeline of a request, if lint accepts it. @throws ConveyorError `invalid-request`, `over-limit` */
function requireSound(c: Context, spec: PipelineSpec): PipelineSpec {
  requireName(c, spec.pipeline);
  // Checked before lint, which takes long on oversized input.
  rejectInvalidInput(
    over(SPEC_LIMITS.spec, jsonBytes(spec)) ?? over(SPEC_LIMITS.actions, Object.keys(spec.actions).length),
  );
  const problems = specProblems(spec) ?? ['body: not a stored pipeline spec'];
  if (problems.length === 0) return spec;
  throw conveyorError('invalid-request', { detail: problems.slice(0, MAX_PROBLEMS_SHOWN).join('; ') });
}

function requireName(c: Context, inBody: string): void {
  const name = pipelineParam(c);
  if (inBody !== name)
    throw conveyorError('invalid-request', { detail: `the address names ${name}, the body ${inBody}` });
}
