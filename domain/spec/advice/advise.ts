import { lintPipeline } from '../lint';
import type { PipelineSpec } from '../pipeline';
import { warningAt, type Finding } from '../problem';
import type { StatsReport } from '../../stats/report';
import { experienceFindings } from './experience';
import { practiceRules } from './practices';

/** Warnings of lint that are among the recommendations of the paper. */
const OF_LINT: readonly string[] = [
  ...['large-first-phase', 'no-bake', 'no-whole-region', 'no-health-checks', 'late-in-the-week'],
];

/**
 * Changes that would make a pipeline safer or faster: by what Conveyor §6.5.4 recommends, and by how deploys of its category went. The message of
 * each says what to do, its hint why.
 */
export function advise(spec: PipelineSpec, stats: StatsReport | null): Finding[] {
  const doubts = lintPipeline(spec)
    .filter(({ code }) => OF_LINT.includes(code))
    .map(({ path, code, message, hint }) => warningAt(path, code, hint, `${message} (Conveyor §6.5.4)`));
  const own = practiceRules.flatMap((rule) => rule(spec));
  return [...doubts, ...own, ...(stats === null ? [] : experienceFindings(spec, stats))];
}
