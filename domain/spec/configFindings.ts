import { groupBy } from '../groupBy';
import { sameJson } from '../json';
import { joinWords } from '../text';
import { deploysWithConfig } from './deployActions';
import type { PipelineSpec } from './pipeline';

/** The answer of a push type about the config of a deploy or canary, or the reason why it was not checked. */
export type ConfigFinding = { readonly action: string; readonly pushType: string } & (
  { readonly problems: readonly { readonly path: string; readonly message: string }[] } | { readonly unchecked: string }
);

/**
 * A refused config prevents an apply, unless the pipeline already has the same config: a missing job must not keep its owners from changing
 * anything else.
 * @returns `refused` in words, one for each action, and `notes`, one for each reason why a config was not checked
 */
export function judgeConfigs(
  findings: readonly ConfigFinding[],
  spec: PipelineSpec,
  previous: PipelineSpec | null,
): { readonly refused: readonly string[]; readonly notes: readonly string[] } {
  const refused: string[] = [];
  const notes: string[] = [];
  for (const finding of findings) {
    const { action } = finding;
    if ('problems' in finding && finding.problems.length > 0) {
      const words = problemWords(finding);
      if (isConfigKept(action, spec, previous)) notes.push(`${words}; the pipeline had this config before`);
      else refused.push(words);
    }
  }
  return { refused, notes: [...describeUnchecked(findings), ...notes] };
}

/** One for each distinct reason. */
const describeUnchecked = (findings: readonly ConfigFinding[]): readonly string[] =>
  groupBy(
    findings.filter((finding) => 'unchecked' in finding),
    ({ unchecked }) => unchecked,
  ).map(([why, of]) => {
    const actions = joinWords(
      of.map(({ action }) => action),
      'and',
    );
    return of.length === 1
      ? `the config of ${actions} was not checked, so that only its deploy finds mistakes: ${why}`
      : `the configs of ${actions} were not checked, so that only their deploys find mistakes: ${why}`;
  });

const PROBLEMS_SHOWN = 10;

const problemWords = ({ action, pushType, problems }: Extract<ConfigFinding, { problems: unknown }>): string => {
  const shown = problems.slice(0, PROBLEMS_SHOWN).map(({ path, message }) => `${path}: ${message}`);
  const more = problems.length - shown.length;
  return `${pushType} refuses the config of ${action}: ${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
};

function isConfigKept(action: string, spec: PipelineSpec, previous: PipelineSpec | null): boolean {
  const own = deploysWithConfig(spec).find(([name]) => name === action)?.[1];
  return (
    previous !== null &&
    own !== undefined &&
    deploysWithConfig(previous).some(([, had]) => had.pushType === own.pushType && sameJson(had.config, own.config))
  );
}
