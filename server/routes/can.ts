import { Hono } from 'hono';
import { answerTo } from '../../client/can';
import { over } from '../../domain/excess';
import { SPEC_LIMITS } from '../../domain/limits';
import { withMember } from '../../domain/principals';
import { jsonBytes } from '../../domain/size';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import { authenticate, type CallerDeps } from '../auth';
import { readJson, rejectInvalidInput } from '../body';
import { canRequest } from '../changes';

/**
 * `POST /v1/can`: whether a principal may perform an operation through this server, and by which rule. Any known caller may ask about any principal,
 * since a refusal reveals as much. Anonymous callers may not, even where reads are open, because answers name members of groups.
 */
export function canRoutes(deps: CallerDeps): Hono {
  const app = new Hono();
  app.post('/', async (c) => {
    const { principal, groups: joins } = await authenticate(c, deps);
    const { spec, ...question } = await readJson(c, canRequest);
    if (spec !== undefined) rejectInvalidInput(over(SPEC_LIMITS.spec, jsonBytes(spec)));
    const { policy, groups } = deps.config;
    // The server knows the provider's groups of the caller only.
    const facts = { policy, groups: question.who === principal ? withMember(groups, principal, joins) : groups };
    const decision = await answerTo(
      { client: deps.client, facts, door: 'api', repositories: deps.config.configRepositories },
      { ...question, spec: spec as unknown as PipelineSpec | undefined },
    );
    const { allowed, why } = decision;
    const { by, through } = decision.allowed ? decision : { by: null, through: null };
    return c.json({ allowed, by, through, why });
  });
  return app;
}
