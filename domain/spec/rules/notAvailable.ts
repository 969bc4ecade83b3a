import type { Rule } from '../lint';
import type { PipelineSpec } from '../pipeline';
import { errorAt, type Finding, type Path } from '../problem';

/**
 * What the file format has and this version does not execute yet. It is refused, never ignored: somebody who asked for a
 * check before a phase must not get a deploy without. A feature that lands deletes its line here.
 */
type Missing<T> = readonly [feature: string, at: Path, isAsked: (value: T) => boolean];

const OF_PIPELINE: readonly Missing<PipelineSpec>[] = [
  ['emergency.approvals', ['emergency', 'approvals'], ({ emergency }) => (emergency?.approvals ?? 0) > 0],
];

function refuse<T>(missing: readonly Missing<T>[], base: Path, value: T): Finding[] {
  return missing
    .filter(([, , isAsked]) => isAsked(value))
    .map(([feature, at]) =>
      errorAt(
        [...base, ...at],
        'not-available',
        `${feature} is part of the file format but not of this version`,
        'remove it for now; it would not take effect',
      ),
    );
}

const notAvailable: Rule = (spec) => refuse(OF_PIPELINE, [], spec);

export const notAvailableRules: readonly Rule[] = [notAvailable];
