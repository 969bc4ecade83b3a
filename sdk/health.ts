import { createErroredEvidence, evaluateCheck, createUnreachedEvidence } from '../domain/health/evaluate';
import { baselineFor, computeLookback } from '../domain/health/lookback';
import { sum, type TimeRange } from '../domain/health/series';
import type { CheckEvidence } from '../domain/health/verdict';
import type { HealthCheck } from '../domain/spec/health';
import { concurrencyGate } from './concurrency';
import { readSides, type Query, type TaskGroup } from './health/sides';
import type { RequestOf, ResponseOf } from './protocol/common';
import type { PushTypeProtocol } from './protocol/pushType';

export type { Query } from './health/sides';

/** The tasks of a unit by the identifiers that the fleet writes on their metrics (moving targets). */
export interface UnitTasks {
  readonly id: string;
  /** The tasks that this deploy updated and that are reachable. Before the first phase, when none is updated yet: all tasks. */
  readonly fresh: readonly string[];
  /**
   * The number of tasks that this deploy updated, including unreachable ones: if it is above zero but `fresh` is empty,
   * their health is unknown.
   */
  readonly updated?: number | undefined;
  /** Not updated by it, and not reserved by a canary. */
  readonly control: readonly string[];
  /** The identifiers of `fresh` tasks' slots before the deploy. */
  readonly before: readonly string[];
}

/** The request of `judgeTargets`: that of `runHealthChecks` with targets resolved to task identifiers, and a data source. */
export interface JudgeRequest extends Omit<RequestOf<PushTypeProtocol['runHealthChecks']>, 'targets'> {
  readonly targets: readonly UnitTasks[];
  /** The least lookback of checks without their own; Conveyor always sets it. */
  readonly intervalMs?: number;
  /** Longest wait for one answer of the data source. Default 10 s. */
  readonly deadlineMs?: number;
  readonly query: Query;
}

/** The answer of `runHealthChecks` (docs/reference/protocols.md#runhealthchecks). */
export type JudgeResponse = ResponseOf<PushTypeProtocol['runHealthChecks']>;

/**
 * Implements `runHealthChecks`: a push type only resolves its targets to task identifiers and passes a data source.
 * Never rejects: a source that fails, is slow or answers nonsense makes its checks `errored`. A unit without an
 * updated task has no evidence. If all updated tasks of a unit are unreachable, its evidence says that nothing is
 * known. Checks with `scope: deploy` judge the tasks of all units as one group.
 */
export async function judgeTargets(request: JudgeRequest): Promise<JudgeResponse> {
  const judgeCheck = judgeWith(request);
  const perUnit = request.checks.filter(({ scope }) => scope === 'unit');
  const pooled = request.checks.filter(({ scope }) => scope === 'deploy');
  const targets = request.targets.filter(isJudged);
  const units = await Promise.all(
    request.targets.map(async (target) => {
      const judged = isJudged(target) ? perUnit : [];
      return { id: target.id, checks: await Promise.all(judged.map((check) => judgeCheck(check, [target]))) };
    }),
  );
  const deploy = targets.length > 0 ? pooled : [];
  return { units, deploy: { checks: await Promise.all(deploy.map((check) => judgeCheck(check, targets))) } };
}

const isJudged = ({ fresh, updated = 0 }: UnitTasks): boolean => fresh.length > 0 || updated > 0;

/** The answer if nothing could be evaluated. */
export function createErroredResponse(
  { targets, checks, now, intervalMs }: Pick<JudgeRequest, 'targets' | 'checks' | 'now' | 'intervalMs'>,
  detail: string,
): JudgeResponse {
  const errored = (scope: HealthCheck['scope']): CheckEvidence[] =>
    checks
      .filter((check) => check.scope === scope)
      .map((check) =>
        createErroredEvidence(check, { start: now - computeLookback(check, intervalMs), end: now }, detail),
      );
  const judged = targets.filter(isJudged);
  return {
    units: targets.map((target) => ({ id: target.id, checks: judged.includes(target) ? errored('unit') : [] })),
    deploy: { checks: judged.length > 0 ? errored('deploy') : [] },
  };
}

/** Concurrent queries of one request; a service may have thousands of units. */
const QUERIES_AT_ONCE = 32;

function judgeWith(
  request: JudgeRequest,
): (check: HealthCheck, targets: readonly UnitTasks[]) => Promise<CheckEvidence> {
  const read = readSides(request.query, concurrencyGate(QUERIES_AT_ONCE), request.deadlineMs);
  return async (check, targets) => {
    const lookback = computeLookback(check, request.intervalMs);
    const window: TimeRange = { start: request.now - lookback, end: request.now };
    const baseline = baselineFor(request.baseline, lookback);
    const unreached = targets.every(({ fresh }) => fresh.length === 0);
    if (unreached) return createUnreachedEvidence(check, window, sum(targets.map(({ updated = 0 }) => updated)));
    try {
      const groups = taskGroups(check, targets);
      const [fresh, control, before] = await Promise.all([
        read(check, groups.fresh, window),
        read(check, groups.control, window),
        read(check, groups.before, baseline),
      ]);
      return evaluateCheck({ check, fresh, control, before, window, baseline });
    } catch (error) {
      return createErroredEvidence(check, window, error instanceof Error ? error.message : String(error));
    }
  };
}

/** The groups that a check needs; others are not queried. */
function taskGroups(
  check: HealthCheck,
  targets: readonly UnitTasks[],
): Record<'fresh' | 'control' | 'before', TaskGroup[]> {
  const group = (side: 'fresh' | 'control' | 'before'): TaskGroup[] =>
    targets.flatMap((target) => (target[side].length > 0 ? [{ unit: target.id, tasks: target[side] }] : []));
  const fresh = group('fresh');
  if (check.compare === undefined) return { fresh, control: [], before: [] };
  if (typeof check.compare === 'object') {
    const { version } = check.compare;
    return { fresh, control: targets.map(({ id }) => ({ unit: id, version })), before: [] };
  }
  const control = check.compare === 'control' ? group('control') : [];
  return { fresh, control, before: control.length === 0 ? group('before') : [] };
}
