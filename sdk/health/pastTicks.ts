import { withLookback } from '../../domain/health/lookback';
import type { PastDeploy } from '../../domain/health/pastDeploy';
import type { Tick } from '../../domain/health/replay';
import { longestLookback } from '../../domain/health/lookback';
import type { HealthCheck } from '../../domain/spec/health';
import { callExtension, type Fetch, type ServiceEndpoint } from '../client';
import { pushTypeProtocol } from '../protocol/pushType';

/**
 * What the push type of a past deploy says of these checks at every evaluation of its bakes: the tasks that were updated then, and
 * the data of then. Throws what `callExtension` throws. A push type that does not remember answers with no evidence or with
 * checks that are inconclusive, and these count for nothing.
 */
export async function pastTicks(
  deploy: PastDeploy,
  checks: readonly HealthCheck[],
  service: ServiceEndpoint,
  viaFetch?: Fetch,
): Promise<Tick[]> {
  const { units, updatedBy, begunAt, intervalMs, context } = deploy;
  const baseline = { start: begunAt - longestLookback(checks, intervalMs), end: begunAt };
  const asked = {
    targets: { units: [...units], updatedBy: [...updatedBy] },
    checks: withLookback(checks, intervalMs),
    baseline,
  };
  const ticks: Tick[] = [];
  for (const { at, updatedAt } of momentsOf(deploy)) {
    const call = { service, protocol: pushTypeProtocol, method: 'runHealthChecks', context } as const;
    const via = viaFetch === undefined ? {} : { fetch: viaFetch };
    const response = await callExtension({ ...call, ...via, request: { ...asked, now: at } });
    ticks.push({ at, updatedAt, response });
  }
  return ticks;
}

/** Every interval of each bake and at its end, as a deploy evaluates. */
function momentsOf({ bakes, intervalMs }: PastDeploy): Omit<Tick, 'response'>[] {
  return bakes.flatMap(({ updatedAt, until }) => {
    const count = Math.max(1, Math.ceil((until - updatedAt) / intervalMs));
    return Array.from({ length: count }, (_, nth) => ({
      at: Math.min(until, updatedAt + (nth + 1) * intervalMs),
      updatedAt,
    }));
  });
}
