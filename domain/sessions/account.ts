import { decideAccess, type AccessDecision } from '../access/decide';
import { membership } from '../access/members';
import type { OperationName } from '../access/operations';
import type { PlatformFacts, PlatformPolicy } from '../access/platform';
import { groupsOfMember, withMember, type Principal } from '../principals';
import { formatTime } from '../text';
import type { Session } from './session';

/** The page about oneself: who am I, why may I, which session is this. */
export interface AccountView extends RightsView {
  readonly session: {
    readonly by: 'the identity provider' | 'a token of the configuration' | 'the development login';
    readonly signedInAt: string;
    readonly confirmedAt: string;
    readonly until: string;
  };
}

/** The rights of a person or a program. */
export interface RightsView {
  readonly principal: Principal;
  readonly groups: readonly AccountGroup[];
  /** Every rule of the platform, with those that apply first; empty without a platform section. */
  readonly rules: readonly AccountRule[];
  /** Decisions about the platform as a whole; those about a pipeline need its owners (`conveyor can`). */
  readonly decisions: readonly { readonly operation: OperationName; readonly decision: AccessDecision }[];
}

interface AccountGroup {
  /** `group:storage` */
  readonly name: Principal;
  /** Both, if both list the person. */
  readonly from: readonly ('settings' | 'provider')[];
}

interface AccountRule {
  /** Its place in the configuration, such as `platform.pipelines.0.creators`. */
  readonly place: string;
  /** The things that it permits. */
  readonly gives: string;
  /** Its principals. */
  readonly names: readonly Principal[];
  readonly applies: boolean;
  /** The group through which it applies; null if by name, or if it does not apply. */
  readonly through: Principal | null;
}

type AccountFacts = Pick<PlatformFacts, 'policy' | 'groups'>;

/** @param facts the settings, without the groups of the session */
export const describeAccount = (facts: AccountFacts, session: Session): AccountView => ({
  ...describeRights(facts, session),
  session: {
    by: PROOF_WORDS[session.proof.kind],
    signedInAt: formatTime(session.signedInAtMs),
    confirmedAt: formatTime(session.confirmedAtMs),
    until: formatTime(session.untilMs),
  },
});

type Member = Pick<Session, 'principal' | 'groups'>;

/** @param facts the settings, without the groups that an identity provider names */
export function describeRights(facts: AccountFacts, member: Member): RightsView {
  const { principal, groups } = member;
  const all: AccountFacts = { ...facts, groups: withMember(facts.groups, principal, groups) };
  return {
    principal,
    groups: listGroups(facts, member),
    rules: listRules(all, principal),
    decisions: OF_THE_PLATFORM.map((operation) => ({
      operation,
      decision: decideAccess(all, {
        ...{ who: { principal, door: 'api' }, verb: operation, what: { pipeline: '', owners: null } },
      }),
    })),
  };
}

const PROOF_WORDS = {
  oidc: 'the identity provider',
  token: 'a token of the configuration',
  development: 'the development login',
} as const satisfies Record<Session['proof']['kind'], AccountView['session']['by']>;

/** The operations that are about no pipeline. */
const OF_THE_PLATFORM: readonly OperationName[] = ['read', 'read-audit', 'report-bug'];

function listGroups({ groups }: AccountFacts, session: Member): readonly AccountGroup[] {
  const configured = groupsOfMember(groups, session.principal);
  const vouched = session.groups.map((name) => `group:${name}`);
  return [...new Set([...configured, ...vouched])].sort().map((name) => ({
    name,
    from: [
      ...(configured.includes(name) ? (['settings'] as const) : []),
      ...(vouched.includes(name) ? (['provider'] as const) : []),
    ],
  }));
}

type RuleText = Pick<AccountRule, 'place' | 'gives' | 'names'>;

function listRules({ policy, groups }: AccountFacts, who: Principal): readonly AccountRule[] {
  const rules = (policy === null ? [] : listRuleTexts(policy)).map((rule) => {
    const member = membership(rule.names, who, groups);
    return { ...rule, applies: member !== undefined, through: member?.through ?? null };
  });
  return [...rules.filter(({ applies }) => applies), ...rules.filter(({ applies }) => !applies)];
}

function listRuleTexts({ admins, pipelines, services, uses, bugs, scripts, protection }: PlatformPolicy): RuleText[] {
  return [
    { place: 'platform.admins', gives: 'do everything, on record', names: admins },
    ...pipelines.map(({ names, creators }, at) => ({
      ...{ place: `platform.pipelines.${at}.creators`, names: creators },
      gives: `create, apply, import and retire own pipelines called ${names.join(', ')}`,
    })),
    ...services.map(({ pushType, units, owners }, at) => ({
      ...{ place: `platform.services.${at}.owners`, names: owners },
      gives: `deploy to ${units.map((unit) => `${pushType}/${unit}`).join(', ')}, and evict deploys of others there`,
    })),
    ...uses.map(({ kind, names, by }, at) => ({
      ...{ place: `platform.uses.${at}.by`, names: by },
      gives: `use ${names.map((name) => `${kind}/${name}`).join(', ')} in own pipelines`,
    })),
    ...(bugs.length === 0 ? [] : [{ place: 'platform.bugs.by', gives: 'report and close bugs', names: bugs }]),
    ...(scripts.length === 0
      ? []
      : [{ place: 'platform.scripts.by', gives: 'run scripts in own pipelines', names: scripts }]),
    ...protection.flatMap(({ approvals, pipelines: protectedNames, services: units }, at) =>
      approvals === null
        ? []
        : [
            {
              ...{ place: `platform.protection.${at}.approvals.by`, names: approvals.by },
              gives: `approve releases of others of ${[
                ...protectedNames,
                ...units.flatMap(({ pushType, units: each }) => each.map((unit) => `${pushType}/${unit}`)),
              ].join(', ')}`,
            },
          ],
    ),
  ];
}
