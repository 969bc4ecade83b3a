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
  const missing = [...lacksApprovals(rule, spec), ...Object.entries(spec.actions).flatMap((one) => lacksIn(rule, one))];
  return missing.length === 0 ? undefined : `${place} protects ${spec.pipeline}: ${missing.join('; ')}`;
}

function lacksApprovals(rule: ProtectionRule, { emergency }: PipelineSpec): string[] {
  const needed = emergencyApprovals(rule);
  const given = emergency?.approvals ?? 0;
  return given >= needed ? [] : [`emergency needs ${plural(needed, 'approval')} and has ${given}`];
}

type NamedAction = readonly [name: string, action: PipelineSpec['actions'][string]];

function lacksIn({ requires }: ProtectionRule, [name, action]: NamedAction): string[] {
  if (action.type !== 'deploy' && action.type !== 'canary') return [];
  const checks = action.with.healthChecks.map((check) => check.name);
  const soak = action.soak?.for ?? 0;
  const { soak: soakMs, windows } = requires;
  return [
    ...requires.checks.filter((check) => !checks.includes(check)).map((check) => `${name} has no check ${check}`),
    ...(action.type === 'deploy' && soak < soakMs
      ? [`${name} soaks for ${formatDuration(soak)} and not ${formatDuration(soakMs)}`]
      : []),
    ...(windows && action.window === undefined ? [`${name} has no window`] : []),
  ];
}
