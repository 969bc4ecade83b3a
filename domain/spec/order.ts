import type { PipelineSpec } from './pipeline';

/** The finder whose artifacts are differences: a later one does not contain the changes of an earlier one. */
const OF_DIFFERENCES = 'config-changes';

/** The artifacts of a pipeline that are changes of a repository of configuration. */
export const listSubscribedChanges = ({ artifacts }: Pick<PipelineSpec, 'artifacts'>): string[] =>
  Object.entries(artifacts).flatMap(([name, { finder }]) => (finder === OF_DIFFERENCES ? [name] : []));

/** The default: a newer build contains what an older one has, and supersedes it; a newer change does not contain an older one. */
export function withOrder(spec: PipelineSpec, written: unknown): PipelineSpec {
  const { releases } = written as { readonly releases?: { readonly supersede?: unknown } };
  if (listSubscribedChanges(spec).length === 0 || releases?.supersede !== undefined) return spec;
  return { ...spec, releases: { ...spec.releases, supersede: 'never' } };
}
