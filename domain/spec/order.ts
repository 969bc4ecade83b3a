import type { PipelineSpec } from './pipeline';

/** The finder whose artifacts are differences: what one of them changes is in no later one. */
const OF_DIFFERENCES = 'config-changes';

/** The artifacts of a pipeline that are changes of a repository of configuration. */
export const subscribedChanges = ({ artifacts }: Pick<PipelineSpec, 'artifacts'>): string[] =>
  Object.entries(artifacts).flatMap(([name, { finder }]) => (finder === OF_DIFFERENCES ? [name] : []));

/** What the file leaves out: a newer build has what an older one has, and supersedes it; a newer change has not. */
export function withOrder(spec: PipelineSpec, written: unknown): PipelineSpec {
  const { releases } = written as { readonly releases?: { readonly supersede?: unknown } };
  if (subscribedChanges(spec).length === 0 || releases?.supersede !== undefined) return spec;
  return { ...spec, releases: { ...spec.releases, supersede: 'never' } };
}
