import type { HealthCheck } from '../spec/health';
import { formatDuration, plural } from '../text';
import { formatValue } from './bound';
import { getRankMethod } from './judgeShift';
import { computeLookback } from './lookback';
import { listBounds } from './threshold';
import type { Transform } from '../spec/healthFields';

/** The settings of the deploy that affect a check. */
interface Surroundings {
  readonly healthInterval: number;
  readonly onUnhealthy: 'revert' | 'pause';
}

/**
 * The rule of a check and its consequences, including all defaults and the fields of a ready check: `p90 of rpc.latency (p99 of 5m)
 * more than 15% above the tasks not yet updated, over 5m, of 5 samples or more: revert`.
 */
export function describeCheck(check: HealthCheck, { healthInterval, onUnhealthy }: Surroundings): string {
  const transforms = check.transform.length === 0 ? '' : ` (${check.transform.map(transformWords).join(', ')})`;
  const details = [
    `over ${formatDuration(computeLookback(check, healthInterval))}`,
    check.scope === 'deploy' ? 'of all units together' : '',
    check.minSamples === undefined ? '' : `of ${plural(check.minSamples, 'sample')} or more`,
    check.reporting === undefined ? '' : `${check.reporting} of the tasks reporting`,
    rankWords(check),
    holdWords(check.for),
    check.passes === undefined ? '' : `healthy ${plural(check.passes, 'time')} in a row to pass`,
  ].filter((words) => words !== '');
  const then = ACTIONS[check.onUnhealthy ?? onUnhealthy];
  const bounds = listBounds(check.threshold).map((bound) => bound.describe(referenceWords(check.compare)));
  return `${check.reduce} of ${check.metric}${transforms} ${bounds.join(' or ')}, ${details.join(', ')}: ${then}`;
}

const ACTIONS = { revert: 'revert', pause: 'pause', ignore: 'only report' } as const;

function referenceWords(compare: HealthCheck['compare']): string {
  if (typeof compare === 'object') return `the tasks on ${compare.version}`;
  return compare === 'before' ? 'what it was before the deploy' : 'the tasks not yet updated';
}

function transformWords(step: Transform): string {
  if (typeof step === 'string') return step;
  if ('average' in step) return `average of ${formatDuration(step.average)}`;
  if ('percentile' in step) return `p${step.percentile.q} of ${formatDuration(step.percentile.over)}`;
  return step.fill === 'drop' ? 'gaps dropped' : `gaps filled with ${step.fill === 'zero' ? 'zero' : 'the last value'}`;
}

function rankWords(check: HealthCheck): string {
  const ranks = getRankMethod(check);
  if (ranks === undefined) return '';
  const { confidence, effect } = ranks;
  const sure = `${formatValue(confidence * 100)}% sure by ranks`;
  return effect === undefined ? sure : `${sure} of an effect of ${effect} or more`;
}

function holdWords(hold: HealthCheck['for']): string {
  if (hold === undefined) return '';
  if (typeof hold === 'number') return `for ${formatDuration(hold)}`;
  return 'within' in hold ? `${hold.failures} times of ${hold.within}` : `${hold.evaluations} times in a row`;
}
