import { lintPipeline } from '../lint';
import type { PipelineSpec } from '../pipeline';
import { warningAt, type Finding } from '../problem';
import type { StatsReport } from '../../stats/report';
import { experienceFindings } from './experience';
import { practiceRules } from './practices';

/** Warnings of lint that are also recommendations of the paper. */
const OF_LINT: readonly string[] = [
  ...['large-first-phase', 'no-bake', 'no-whole-region', 'no-health-checks', 'late-in-the-week'],
];

/**
 * Changes that would make a pipeline safer or faster, from the recommendations of Conveyor §6.5.4 and from past deploys of its category. The message
 * of each says what to do, and its hint gives the reason.
 */
export function advise(spec: PipelineSpec, stats: StatsReport | null): Finding[] {
  const doubts = lintPipeline(spec)
    .filter(({ code }) => OF_LINT.includes(code))
    .map(({ path, code, message, hint }) => warningAt(path, code, hint, `${message} (Conveyor §6.5.4)`));
  const own = practiceRules.flatMap((rule) => rule(spec));
  return [...doubts, ...own, ...(stats === null ? [] : experienceFindings(spec, stats))];
}
