import { setTimeout as delay } from 'node:timers/promises';
import { ConveyorError } from '../../domain/errors';
import { longestLookback, withLookback } from '../../domain/health/lookback';
import type { PastDeploy } from '../../domain/health/pastDeploy';
import { everyMs, type Tick } from '../../domain/health/replay';
import type { HealthCheck } from '../../domain/spec/health';
import { callExtension, type ServiceEndpoint } from '../client';
import type { Fetch } from '../request';
import { pushTypeProtocol } from '../protocol/pushType';

export interface AskOptions {
  /** Reaches the push type; the network by default. */
  readonly fetch?: Fetch | undefined;
  /** An abort ends it with the signal's reason. */
  readonly signal?: AbortSignal;
  /** The pauses before further tries of a call, in ms; one more try for each. */
  readonly waitsMs?: readonly number[];
}

/** One lost call among thousands is no reason to start again. */
const WAITS_MS = [500, 2_000];

/**
 * The verdicts of a past deploy's push type on these checks at every evaluation of its bakes: about the tasks updated then, with the data of then.
 * Throws the errors of `callExtension`; a call that may work later is tried several times first. A push type that does not remember the deploy
 * answers with no evidence or with inconclusive checks, and these do not count.
 */
export async function pastTicks(
  deploy: PastDeploy,
  checks: readonly HealthCheck[],
  service: ServiceEndpoint,
  { fetch, signal, waitsMs = WAITS_MS }: AskOptions = {},
): Promise<Tick[]> {
  const { units, updatedBy, begunAt, intervalMs, context } = deploy;
  const baseline = { start: begunAt - longestLookback(checks, intervalMs), end: begunAt };
  const asked = {
    targets: { units: [...units], updatedBy: [...updatedBy] },
    checks: withLookback(checks, intervalMs),
    baseline,
  };
  const via = { ...(fetch ? { fetch } : {}), ...(signal ? { signal } : {}) };
  const call = { service, protocol: pushTypeProtocol, method: 'runHealthChecks', context, ...via } as const;
  const ticks: Tick[] = [];
  for (const { at, updatedAt } of listTickTimes(deploy)) {
    const ask = () => callExtension({ ...call, request: { ...asked, now: at } });
    ticks.push({ at, updatedAt, response: await persistently(ask, waitsMs, signal) });
  }
  return ticks;
}

/** Every interval of each bake and its end, the times at which a deploy evaluates. */
function listTickTimes({ bakes, intervalMs }: PastDeploy): Omit<Tick, 'response'>[] {
  return bakes.flatMap((bake) => {
    const { updatedAt, until } = bake;
    const every = everyMs(bake, intervalMs);
    const count = Math.max(1, Math.ceil((until - updatedAt) / every));
    return Array.from({ length: count }, (_, nth) => ({
      at: Math.min(until, Math.round(updatedAt + (nth + 1) * every)),
      updatedAt,
    }));
  });
}

async function persistently<T>(
  ask: () => Promise<T>,
  [waitMs, ...later]: readonly number[],
  signal: AbortSignal | undefined,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (waitMs === undefined || !(error instanceof ConveyorError && error.retryable)) throw error;
  }
  // If the signal cuts the pause short, the next call throws its reason.
  await delay(waitMs, undefined, signal ? { signal } : {}).catch(() => undefined);
  return persistently(ask, later, signal);
}
