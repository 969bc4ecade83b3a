import type { PipelineSpec } from '../spec/pipeline';
import { STATE_LIMITS } from '../limits';
import { firstWithin } from '../size';
import { formatDuration, plural } from '../text';
import { matchesAny } from '../pattern';
import { shortList } from './members';
import { areAbout } from './units';
import type { PlatformPolicy, ProtectionRule } from './platform';
import type { Units } from './request';

/** A rule that protects a pipeline, and its place in the configuration. */
export interface ProtectingRule {
  readonly place: string;
  readonly rule: ProtectionRule;
}

/** A pipeline and its units, for matching rules. */
export interface ProtectionSubject {
  readonly pipeline: string;
  /** The units, if they are known. */
  readonly holds?: Units | undefined;
  /**
   * For a rollback: units known to have had the version. Rules about these, or about the pipeline, have already been
   * passed.
   */
  readonly had?: readonly string[] | undefined;
  /** Places of rules about units that a worker, which knows the units, found to apply. */
  readonly places?: readonly string[] | undefined;
}

export const findProtectingRules = (
  { protection }: PlatformPolicy,
  { pipeline, holds, had, places = [] }: ProtectionSubject,
): readonly ProtectingRule[] =>
  protection.flatMap((rule, at) => {
    const place = formatRulePlace(at);
    const isOfPipeline = matchesAny(rule.pipelines, pipeline);
    if (had && (isOfPipeline || isAbout(rule, holds && { ...holds, units: had }))) return [];
    const isMeant = isOfPipeline || isAbout(rule, holds);
    return isMeant || (rule.services.length > 0 && places.includes(place)) ? [{ place, rule }] : [];
  });

const formatRulePlace = (at: number): string => `platform.protection.${at}`;

const isAbout = ({ services }: ProtectionRule, holds: Units | undefined): boolean =>
  holds !== undefined &&
  services.some(
    ({ pushType, units }) =>
      pushType === holds.pushType && (holds.any === true || holds.units.some((unit) => areAbout(units, unit))),
  );

/** Whether the applicable rules depend on the units of a push type. */
export const wantsUnits = ({ protection }: PlatformPolicy, of: string): boolean =>
  protection.some(({ services }) => services.some(({ pushType }) => pushType === of));

/** Why a version may not go to further units: a rule protects these, but none of the units known to have had it. */
export function newlyProtected(
  policy: PlatformPolicy,
  { pipeline, holds, had }: ProtectionSubject & { readonly holds: Units; readonly had: readonly string[] },
  stops = (_rule: ProtectionRule): boolean => true,
): string | undefined {
  const found = findProtectingRules(policy, { pipeline, holds, had }).find(({ rule }) => stops(rule));
  if (found === undefined) return undefined;
  const named = unitsUnder(policy, found.place, holds).map((unit) => `${holds.pushType}/${unit}`);
  return `${found.place} protects ${shortList(named)}, and nothing that ${pipeline} is known to have brought this version to: release it there`;
}

/** The units that the rule at a place concerns. */
export const unitsUnder = (policy: PlatformPolicy | null, at: string, { pushType, units }: Units): readonly string[] =>
  (policy?.protection ?? []).flatMap((rule, nth) =>
    formatRulePlace(nth) === at ? units.filter((unit) => isAbout(rule, { pushType, units: [unit] })) : [],
  );

/** Whether a rule requires more than a signature, the only thing that a rollback can show. */
export const stopsRollbacks = (rule: ProtectionRule): boolean => rule.approvals !== null || wantsTime(rule);

/** A rollback is not checked and does not wait. */
const wantsTime = ({ requires }: ProtectionRule): boolean =>
  requires.checks.length > 0 || requires.soak > 0 || requires.windows;

/**
 * A subset of the units that is covered by the same rules. It tells which rules a version passed after its units are
 * forgotten.
 */
export function unitsOfRules({ protection }: PlatformPolicy, { pushType, units }: Units): readonly string[] {
  const found = protection.flatMap((rule) => units.find((unit) => isAbout(rule, { pushType, units: [unit] })) ?? []);
  return firstWithin([...new Set(found)], STATE_LIMITS.heldIds.max);
}

/** The least number of approvals for an emergency. */
export const emergencyApprovals = ({ emergency, approvals }: ProtectionRule): number =>
  emergency === false ? 0 : (emergency?.approvals ?? approvals?.count ?? 0);

/** Why a rule lets only admins push in an emergency, or refuses this push. */
export function whyNoEmergency(
  { rule, place }: ProtectingRule,
  pipeline: string,
  skipBake: boolean,
): string | undefined {
  if (rule.emergency === false) return `${place} forbids emergency pushes of ${pipeline} except by admins`;
  return skipBake && rule.requires.checks.length > 0
    ? `${place} requires the checks of ${pipeline}, so an emergency bakes as well`
    : undefined;
}

/** A requirement of a rule that a spec lacks; undefined if it has all. */
export function findSpecGap({ rule, place }: ProtectingRule, spec: PipelineSpec): string | undefined {
  const inActions = Object.keys(spec.actions).flatMap((name) => lacksIn(rule, getSafeguards(spec, name)));
  return lacksWords(place, spec.pipeline, [...lacksApprovals(rule, spec.emergency?.approvals), ...inActions]);
}

/** Like `findSpecGap`, for one action that is about to run on a worker. */
export const findActionGap = (
  { rule, place }: ProtectingRule,
  pipeline: string,
  { emergencyApprovals: given, ...action }: Safeguards & { readonly emergencyApprovals: number },
): string | undefined => lacksWords(place, pipeline, [...lacksApprovals(rule, given), ...lacksIn(rule, action)]);

/** A removal brings no version that could be checked or soak: of what a rule requires of a deploy, it needs the window. */
export const findRemovalGap = (
  { rule, place }: ProtectingRule,
  pipeline: string,
  action: Pick<Safeguards, 'name' | 'hasWindow'>,
): string | undefined => lacksWords(place, pipeline, lacksWindow(rule, action));

export const lacksImported = ({ rule, place }: ProtectingRule, pipeline: string): string | undefined =>
  wantsTime(rule)
    ? `${place} protects ${pipeline}: what it would go back to stands in an import alone, and a rollback is not checked; release it instead`
    : undefined;

const lacksWords = (place: string, pipeline: string, missing: readonly string[]): string | undefined =>
  missing.length === 0 ? undefined : `${place} protects ${pipeline}: ${missing.join('; ')}`;

function lacksApprovals(rule: ProtectionRule, given = 0): string[] {
  const needed = emergencyApprovals(rule);
  return given >= needed ? [] : [`emergency needs ${plural(needed, 'approval')} and has ${given}`];
}

/** The properties of an action that rules check. */
export interface Safeguards {
  readonly name: string;
  readonly type: 'deploy' | 'canary' | 'other';
  /** Names of health checks. */
  readonly checks: readonly string[];
  readonly soakMs: number;
  readonly hasWindow: boolean;
}

export function getSafeguards({ actions }: Pick<PipelineSpec, 'actions'>, name: string): Safeguards {
  const action = actions[name];
  if (action?.type !== 'deploy' && action?.type !== 'canary')
    return { name, type: 'other', checks: [], soakMs: 0, hasWindow: false };
  const checks = action.with.healthChecks.map((check) => check.name);
  return { name, type: action.type, checks, soakMs: action.soak?.for ?? 0, hasWindow: action.window !== undefined };
}

const lacksWindow = (
  { requires }: ProtectionRule,
  { name, hasWindow }: Pick<Safeguards, 'name' | 'hasWindow'>,
): string[] => (requires.windows && !hasWindow ? [`${name} has no window`] : []);

function lacksIn(rule: ProtectionRule, action: Safeguards): string[] {
  const { requires } = rule;
  const { name, type, checks, soakMs } = action;
  if (type === 'other') return [];
  return [
    ...requires.checks.filter((check) => !checks.includes(check)).map((check) => `${name} has no check ${check}`),
    ...(type === 'deploy' && soakMs < requires.soak
      ? [`${name} soaks for ${formatDuration(soakMs)} and not ${formatDuration(requires.soak)}`]
      : []),
    ...lacksWindow(rule, action),
  ];
}
