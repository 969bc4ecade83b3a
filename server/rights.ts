import { decideVerb, type FactSource } from '../client/about';
import type { AccessDecision } from '../domain/access/decision';
import type { PlatformFacts } from '../domain/access/platform';
import type { OfferedCommand } from '../domain/commandOffers';
import { withMember } from '../domain/principals';
import { requireTarget } from '../domain/target';
import type { FrontConfig } from './deps';
import type { CallerIdentity } from './identity';

type KnownCaller = Pick<CallerIdentity, 'principal' | 'groups'>;

/** The facts of a decision about a caller. The server knows the groups of the identity provider only for the caller. */
export const toCallerFacts = (
  { policy, groups }: Pick<FrontConfig, 'policy' | 'groups'>,
  { principal, groups: joins }: KnownCaller,
): PlatformFacts => ({ policy, groups: withMember(groups, principal, joins) });

/**
 * Whether a caller may give a command, by the rule of `POST /v1/can`. @throws ConveyorError `no-worker`,
 * `unknown-pipeline`
 */
export const decideCommand = (
  source: FactSource,
  config: Pick<FrontConfig, 'policy' | 'groups'>,
  caller: KnownCaller,
  { verb, target, approve = true }: Pick<OfferedCommand, 'verb' | 'target' | 'approve'>,
): Promise<AccessDecision> =>
  decideVerb(source, toCallerFacts(config, caller), {
    ...{ who: { principal: caller.principal, door: 'api' }, verb },
    ...{ id: requireTarget(target, verb), approves: approve },
  });
