import { toKnownOutcome, type KnownOutcome } from '../../domain/health/quality';
import { replayCheck } from '../../domain/health/replay';
import { healthCheckSchema } from '../../domain/spec/health';
import type { Case } from './cases';

const MINUTE = 60_000;
const common = { name: 'latency', metric: 'latency', compare: 'control', threshold: { increase: '25%' } };

const coarse = { ...common, threshold: { increase: '100%' }, lookback: 3 * MINUTE, for: { evaluations: 2 } };
const check = (fields: object) => healthCheckSchema.parse(fields);
const ranks = check({ ...common, lookback: 10 * MINUTE, method: 'mann-whitney' });

/** All have the same tolerance, a quarter above the tasks that are not updated; with several checks, the first that objects counts. */
export const METHODS = {
  'plain threshold': [check({ ...common, lookback: 3 * MINUTE })],
  'threshold with for': [check({ ...common, lookback: 3 * MINUTE, for: { evaluations: 4 } })],
  'mann-whitney': [ranks],
  'mann-whitney and a coarse threshold': [ranks, check(coarse)],
};
export type Method = keyof typeof METHODS;

/** The result of a method for a case, evaluated every minute. An alarm before the fault began is a false one. */
export function judge(method: Method, { recording, fault, faultAt }: Case): KnownOutcome {
  const alarms = METHODS[method].flatMap((one) => {
    const last = replayCheck(one, recording, MINUTE).at(-1);
    return last?.verdict === 'unhealthy' ? [last.at] : [];
  });
  const foundAt = alarms.length === 0 ? null : Math.min(...alarms);
  return toKnownOutcome(foundAt, { isBad: fault !== null, faultAt, updatedAt: recording.updatedAt });
}
