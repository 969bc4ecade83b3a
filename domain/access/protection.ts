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
export interface Protecting {
  readonly place: string;
  readonly rule: ProtectionRule;
}

/** A pipeline, and the units that it deploys to, as rules match them. */
export interface Concerned {
  readonly pipeline: string;
  /** The units, if they are known. */
  readonly holds?: Units | undefined;
  /** Of what goes back: units that are known to have had the version. Rules about any of these, or about the pipeline, are behind it. */
  readonly had?: readonly string[] | undefined;
  /** Places of the rules about units that a worker, which knows the units, has already found to apply. */
  readonly places?: readonly string[] | undefined;
}

export const protecting = (
  { protection }: PlatformPolicy,
  { pipeline, holds, had, places = [] }: Concerned,
): readonly Protecting[] =>
  protection.flatMap((rule, at) => {
    const place = placeOf(at);
    const isOfPipeline = matchesAny(rule.pipelines, pipeline);
    if (had && (isOfPipeline || isAbout(rule, holds && { ...holds, units: had }))) return [];
    const isMeant = isOfPipeline || isAbout(rule, holds);
    return isMeant || (rule.services.length > 0 && places.includes(place)) ? [{ place, rule }] : [];
  });

const placeOf = (at: number): string => `platform.protection.${at}`;

const isAbout = ({ services }: ProtectionRule, holds: Units | undefined): boolean =>
  holds !== undefined &&
  services.some(
    ({ pushType, units }) =>
      pushType === holds.pushType && (holds.any === true || holds.units.some((unit) => areAbout(units, unit))),
  );

/** Whether only the units of a push type can tell which rules apply. */
export const wantsUnits = ({ protection }: PlatformPolicy, of: string): boolean =>
  protection.some(({ services }) => services.some(({ pushType }) => pushType === of));

/** Why what went to some units may not simply go to others: a rule protects the others, and none that are known to have had it. */
export function newlyProtected(
  policy: PlatformPolicy,
  { pipeline, holds, had }: Concerned & { readonly holds: Units; readonly had: readonly string[] },
  stops = (_rule: ProtectionRule): boolean => true,
): string | undefined {
  const found = protecting(policy, { pipeline, holds, had }).find(({ rule }) => stops(rule));
  if (found === undefined) return undefined;
  const named = unitsUnder(policy, found.place, holds).map((unit) => `${holds.pushType}/${unit}`);
  return `${found.place} protects ${shortList(named)}, and nothing that ${pipeline} is known to have brought this version to: release it there`;
}

/** Of some units those that the rule at a place is about. */
export const unitsUnder = (policy: PlatformPolicy | null, at: string, { pushType, units }: Units): readonly string[] =>
  (policy?.protection ?? []).flatMap((rule, nth) =>
    placeOf(nth) === at ? units.filter((unit) => isAbout(rule, { pushType, units: [unit] })) : [],
  );

/** Whether a rule demands more than a signature, which alone a rollback can show. */
export const stopsRollbacks = (rule: ProtectionRule): boolean => rule.approvals !== null || wantsTime(rule);

/** A rollback is not checked and does not wait. */
const wantsTime = ({ requires }: ProtectionRule): boolean =>
  requires.checks.length > 0 || requires.soak > 0 || requires.windows;

/**
 * Some of the units, of which each rule about any of them is about one. These tell which rules a version went by once it is forgotten where
 * it went.
 */
export function unitsOfRules({ protection }: PlatformPolicy, { pushType, units }: Units): readonly string[] {
  const found = protection.flatMap((rule) => units.find((unit) => isAbout(rule, { pushType, units: [unit] })) ?? []);
  return firstWithin([...new Set(found)], STATE_LIMITS.heldIds.max);
}

/** Which approvals an emergency takes at least. */
export const emergencyApprovals = ({ emergency, approvals }: ProtectionRule): number =>
  emergency === false ? 0 : (emergency?.approvals ?? approvals?.count ?? 0);

/** Why a rule lets only admins push in an emergency, or refuses this push. */
export function whyNoEmergency({ rule, place }: Protecting, pipeline: string, skipBake: boolean): string | undefined {
  if (rule.emergency === false) return `${place} lets nobody push ${pipeline} in an emergency; it is for admins`;
  return skipBake && rule.requires.checks.length > 0
    ? `${place} requires the checks of ${pipeline}, so an emergency bakes as well`
    : undefined;
}

/** What a spec lacks that a rule demands; undefined when it has all of it. */
export function lacking({ rule, place }: Protecting, spec: PipelineSpec): string | undefined {
  const inActions = Object.keys(spec.actions).flatMap((name) => lacksIn(rule, safeguardsOf(spec, name)));
  return lacksWords(place, spec.pipeline, [...lacksApprovals(rule, spec.emergency?.approvals), ...inActions]);
}

/** As `lacking`, of one action that is about to run, for a worker. */
export const lackingNow = (
  { rule, place }: Protecting,
  pipeline: string,
  { emergencyApprovals: given, ...action }: Safeguards & { readonly emergencyApprovals: number },
): string | undefined => lacksWords(place, pipeline, [...lacksApprovals(rule, given), ...lacksIn(rule, action)]);

export const lacksImported = ({ rule, place }: Protecting, pipeline: string): string | undefined =>
  wantsTime(rule)
    ? `${place} protects ${pipeline}: what it would go back to stands in an import alone, and a rollback is not checked; release it instead`
    : undefined;

const lacksWords = (place: string, pipeline: string, missing: readonly string[]): string | undefined =>
  missing.length === 0 ? undefined : `${place} protects ${pipeline}: ${missing.join('; ')}`;

function lacksApprovals(rule: ProtectionRule, given = 0): string[] {
  const needed = emergencyApprovals(rule);
  return given >= needed ? [] : [`emergency needs ${plural(needed, 'approval')} and has ${given}`];
}

/** What rules look at of an action. */
export interface Safeguards {
  readonly name: string;
  readonly type: 'deploy' | 'canary' | 'other';
  /** Names of health checks. */
  readonly checks: readonly string[];
  readonly soakMs: number;
  readonly hasWindow: boolean;
}

export function safeguardsOf({ actions }: Pick<PipelineSpec, 'actions'>, name: string): Safeguards {
  const action = actions[name];
  if (action?.type !== 'deploy' && action?.type !== 'canary')
    return { name, type: 'other', checks: [], soakMs: 0, hasWindow: false };
  const checks = action.with.healthChecks.map((check) => check.name);
  return { name, type: action.type, checks, soakMs: action.soak?.for ?? 0, hasWindow: action.window !== undefined };
}

function lacksIn({ requires }: ProtectionRule, { name, type, checks, soakMs, hasWindow }: Safeguards): string[] {
  if (type === 'other') return [];
  return [
    ...requires.checks.filter((check) => !checks.includes(check)).map((check) => `${name} has no check ${check}`),
    ...(type === 'deploy' && soakMs < requires.soak
      ? [`${name} soaks for ${formatDuration(soakMs)} and not ${formatDuration(requires.soak)}`]
      : []),
    ...(requires.windows && !hasWindow ? [`${name} has no window`] : []),
  ];
}
