import { answerTo } from '../../client/can';
import { SERVER_QUESTIONS } from '../../client/operations/questions';
import { over } from '../../domain/excess';
import { SPEC_LIMITS } from '../../domain/limits';
import { groupsOfMember } from '../../domain/principals';
import { jsonBytes } from '../../domain/size';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import { formatTime } from '../../domain/text';
import { listSignInOffers } from '../../settings/signIn';
import { callerRoute, lookRoute, REFUSED, type ApiRoute } from '../apiRoute';
import { rejectInvalidInput } from '../body';
import { canAnswer, canRequest } from '../changes';
import { toCallerFacts } from '../rights';
import { meAnswer, offersAnswer } from '../schemas';

/** Routes about callers: their identities, and their permissions. */
export const CALLER_ROUTES: readonly ApiRoute[] = [
  lookRoute(SERVER_QUESTIONS.signInOffers.route, {
    summary: 'The identity providers with which `conveyor login` signs people in',
    answer: offersAnswer,
    run: ({ deps }) => listSignInOffers(deps.config.issuers),
  }),
  callerRoute(SERVER_QUESTIONS.whoAmI.route, {
    summary: 'The identity of the caller',
    answer: meAnswer,
    run: ({ deps, caller: { principal, groups, door, expiresAtMs } }) => {
      const all = new Set([...groupsOfMember(deps.config.groups, principal), ...groups.map((name) => `group:${name}`)]);
      // Tokens of the configuration are valid until they are removed from it.
      const expiresAt = expiresAtMs === null ? null : formatTime(expiresAtMs);
      return { principal, groups: [...all], door, expiresAt };
    },
  }),
  // Any known caller may ask about any principal, since a refusal reveals as much. Anonymous callers may not, because answers name members of groups.
  callerRoute(SERVER_QUESTIONS.whether.route, {
    summary: 'Whether a principal may do something, and by which rule of the server; for signed-in callers',
    ...{ request: canRequest, answer: canAnswer, also: { 404: REFUSED[404] } },
    run: async ({ deps, caller, body }) => {
      const { spec, ...question } = await body();
      if (spec !== undefined) rejectInvalidInput(over(SPEC_LIMITS.spec, jsonBytes(spec)));
      const { policy, groups, configRepositories: repositories } = deps.config;
      const facts = question.who === caller.principal ? toCallerFacts(deps.config, caller) : { policy, groups };
      const decision = await answerTo(
        { client: deps.client, facts, door: 'api', repositories },
        { ...question, spec: spec as unknown as PipelineSpec | undefined },
      );
      const { allowed, why } = decision;
      const { by, through } = decision.allowed ? decision : { by: null, through: null };
      return { allowed, by, through, why };
    },
  }),
];
