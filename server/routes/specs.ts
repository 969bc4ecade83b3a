import { Hono, type Context } from 'hono';
import { conveyorError } from '../../domain/errors';
import { over } from '../../domain/excess';
import { SPEC_LIMITS } from '../../domain/limits';
import type { PipelineDocument } from '../../domain/pipeline/document';
import { jsonBytes } from '../../domain/size';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import { documentSchema, specProblems } from '../../domain/spec/pipelineDocument';
import { authenticate } from '../auth';
import { readJson, rejectInvalidInput } from '../body';
import { applyRequest } from '../changes';
import type { RouteDeps } from './deps';
import { pipelineParam } from './pipelines';

/** `/v1/pipelines/<name>`: what a pipeline is and remembers, which its owners change. */
export function specRoutes(deps: RouteDeps): Hono {
  const { client: reader, turns } = deps;
  const app = new Hono();
  app.get('/:name/spec', async (c) => c.json(await reader.spec(pipelineParam(c))));
  app.get('/:name/export', async (c) => c.json(await reader.exportPipeline(pipelineParam(c))));

  app.put('/:name', async (c) => {
    const { principal: actor, client } = await authenticate(c, deps);
    const spec = await readSpec(c);
    return c.json(await turns.run(spec.pipeline, () => client.apply(spec, actor)));
  });

  app.post('/:name/import', async (c) => {
    const { principal: actor, client } = await authenticate(c, deps);
    const document = (await readJson(c, documentSchema)) as unknown as PipelineDocument;
    requireName(c, document.pipeline);
    return c.json(await turns.run(document.pipeline, () => client.importPipeline(document, actor)));
  });
  return app;
}

/** So many problems are worth reading. */
const MAX_PROBLEMS_SHOWN = 10;

/** The pipeline of a request, if lint accepts it. @throws ConveyorError `invalid-request`, `over-limit` */
async function readSpec(c: Context): Promise<PipelineSpec> {
  const spec = (await readJson(c, applyRequest)) as unknown as PipelineSpec;
  requireName(c, spec.pipeline);
  // Before lint, which takes long for what is too large.
  rejectInvalidInput(
    over(SPEC_LIMITS.spec, jsonBytes(spec)) ?? over(SPEC_LIMITS.actions, Object.keys(spec.actions).length),
  );
  const problems = specProblems(spec) ?? ['body: not a spec as a pipeline keeps it'];
  if (problems.length === 0) return spec;
  throw conveyorError('invalid-request', { detail: problems.slice(0, MAX_PROBLEMS_SHOWN).join('; ') });
}

function requireName(c: Context, inBody: string): void {
  const name = pipelineParam(c);
  if (inBody !== name)
    throw conveyorError('invalid-request', { detail: `the address says ${name}, the body ${inBody}` });
}
