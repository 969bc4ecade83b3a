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
 * `POST /v1/can`: whether somebody may do something through this server, and by which rule. Whoever is known may ask about anybody: a refusal
 * says as much of the rules. Strangers may not, where looking is open either, since answers name the members of groups.
 */
export function canRoutes(deps: CallerDeps): Hono {
  const app = new Hono();
  app.post('/', async (c) => {
    const { principal, groups: joins } = await authenticate(c, deps);
    const { spec, ...question } = await readJson(c, canRequest);
    if (spec !== undefined) rejectInvalidInput(over(SPEC_LIMITS.spec, jsonBytes(spec)));
    const { policy, groups } = deps.config;
    // In which groups a provider has somebody is known of whoever asks, and of nobody else.
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
