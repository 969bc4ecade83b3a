import type { HealthCheck } from '../health';
import type { Rule } from '../rule';
import { errorAt, warningAt, type Finding, type Path } from '../problem';
import { listJudgingActions } from './deploys';

/** Checks that can be trusted. */
const none: Rule = (spec) =>
  listJudgingActions(spec)
    .filter(({ checks }) => checks.length === 0)
    .map(({ path, name }) => {
      const message = `${name} has no health checks: only tasks that do not start are noticed`;
      return warningAt(
        [...path, 'healthChecks'],
        'no-health-checks',
        message,
        'add checks of errors, CPU and one number that your users would notice',
      );
    });

const healthFaults: Rule = (spec) =>
  listJudgingActions(spec).flatMap(({ path, checks }) =>
    checks.flatMap((check, index) => {
      const at = [...path, 'healthChecks', index];
      return [...duplicate(at, checks, check, index), ...samples(at, check), ...groups(at, check)];
    }),
  );

const findReportedOnly: Rule = (spec) =>
  listJudgingActions(spec)
    .filter(({ checks }) => checks.length > 0 && checks.every(({ onUnhealthy }) => onUnhealthy === 'ignore'))
    .map(({ path }) =>
      warningAt(
        [...path, 'healthChecks'],
        'only-reported',
        'every check is only reported, so nothing stops a bad version',
        'let one that can be trusted revert or pause: remove its onUnhealthy: ignore',
      ),
    );

export const healthRules: readonly Rule[] = [none, healthFaults, findReportedOnly];

function duplicate(path: Path, checks: readonly HealthCheck[], check: HealthCheck, index: number): Finding[] {
  if (checks.findIndex(({ name }) => name === check.name) === index) return [];
  const message = `there is another check called ${check.name}`;
  return [
    errorAt(
      [...path, 'name'],
      'duplicate-check',
      message,
      'give each check a name of its own: people skip checks by name',
    ),
  ];
}

function samples(path: Path, check: HealthCheck): Finding[] {
  if (check.minSamples !== undefined) return [];
  const least = check.compare === undefined ? 'one sample decides' : 'three samples on each side decide';
  return [
    warningAt(
      path,
      'no-min-samples',
      `${check.name} has no minSamples, so ${least}`,
      'say how many samples make a verdict: minSamples: 10',
    ),
  ];
}

/** The updated tasks are few at first, the others many. */
function groups(path: Path, check: HealthCheck): Finding[] {
  const growsWithTheGroup = check.reduce === 'sum' || check.reduce === 'count';
  if (!growsWithTheGroup || check.compare === undefined || check.compare === 'before') return [];
  const message = `${check.name} compares the ${check.reduce} of groups that differ in size`;
  return [warningAt([...path, 'reduce'], 'unequal-groups', message, 'use reduce: mean, or compare: before')];
}
