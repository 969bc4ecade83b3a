import type { PipelineSpec } from '../spec/pipeline';
import { formatDuration, plural } from '../text';
import { matchesAny } from '../pattern';
import type { PlatformPolicy, ProtectionRule } from './platform';

/** A rule that protects a pipeline, and its place in the configuration. */
export interface Protecting {
  readonly place: string;
  readonly rule: ProtectionRule;
}

export const protecting = ({ protection }: PlatformPolicy, pipeline: string): readonly Protecting[] =>
  protection.flatMap((rule, at) =>
    matchesAny(rule.pipelines, pipeline) ? [{ place: `platform.protection.${at}`, rule }] : [],
  );

/** Which approvals an emergency takes at least. */
export const emergencyApprovals = ({ emergency, approvals }: ProtectionRule): number =>
  emergency === false ? 0 : (emergency?.approvals ?? approvals?.count ?? 0);

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

/** A rollback is neither checked nor does it wait, so that it goes only to what was. */
export const lacksImported = ({ rule: { requires }, place }: Protecting, pipeline: string): string | undefined =>
  requires.checks.length > 0 || requires.soak > 0 || requires.windows
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
