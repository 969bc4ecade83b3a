import { isJsonObject, isText } from '../json';
import { REQUEST_LIMITS } from '../limits';
import { cutText } from '../size';
import { withReason } from '../text';
import { UNKNOWN_ACTOR, type CommandInput } from '../verbs';
import { holdPipeline, queueRelease, type ActiveRelease, type PipelineState } from './state';

/** An undeploy is a release that removes all that a pipeline has deployed (docs/design/offers.md#undeploy). */
const undeploys = ({ trigger }: Pick<ActiveRelease, 'trigger'>): boolean => trigger.kind === 'undeploy';

export const undeployUnderWay = ({ active }: Pick<PipelineState, 'active'>): number | undefined =>
  active.find(undeploys)?.number;

/** Whether a release is an undeploy. A person asked for it, so the hold that comes with it, and the calendar, do not stop it. */
export const isUndeploy = ({ active, history }: Pick<PipelineState, 'active' | 'history'>, release: number): boolean =>
  [...active, ...history].some((one) => one.number === release && undeploys(one));

/** The newest undeploy. */
export const findLastUndeploy = ({ active, history }: Pick<PipelineState, 'active' | 'history'>): number | undefined =>
  [...history, ...active].findLast(undeploys)?.number;

/** The deploy actions of the file that have brought something since they were last removed; units may have been left by one that failed. */
export function listDeployed({ spec, good, inherited, newestBegun, active, history }: PipelineState): string[] {
  const removed = history.findLast((row) => undeploys(row) && row.state === 'succeeded')?.number ?? 0;
  const hasBegun = (name: string): boolean =>
    active.some((one) => !undeploys(one) && one.number === newestBegun[name]) ||
    history.some((row) => row.number > removed && !undeploys(row) && row.deploys.some(({ action }) => action === name));
  const isDeployed = (name: string): boolean =>
    (good[name] ?? []).length > 0 || inherited[name] !== undefined || hasBegun(name);
  return Object.keys(spec.actions).filter((name) => spec.actions[name]?.type === 'deploy' && isDeployed(name));
}

export function whyNotUndeploy(state: PipelineState): string | undefined {
  const underWay = undeployUnderWay(state);
  if (underWay !== undefined) return `release ${underWay} is already undeploying it`;
  return listDeployed(state).length === 0 ? 'nothing of it is deployed' : undefined;
}

/** From the offers of another pipeline: it withdraws an offer that a deploy of this one uses. */
export interface WithdrawalNotice {
  readonly from: string;
  readonly offer: string;
  readonly action: string;
}

export const isWithdrawalNotice = (value: unknown): boolean =>
  isJsonObject(value) && [value['from'], value['offer'], value['action']].every(isText);

/** Whether its file says that it is undeployed for that, and it can be. */
export const followsWithdrawal = (state: PipelineState, { from, offer }: WithdrawalNotice): boolean =>
  (state.spec.wishes ?? []).some(
    (wish) => wish.from === from && wish.offer === offer && wish.onWithdraw === 'undeploy',
  ) && whyNotUndeploy(state) === undefined;

/**
 * A new release that undeploys. The pipeline is held from now on, and no earlier release begins another deploy, so that none brings back what it
 * removes.
 */
export function queueUndeploy(
  state: PipelineState,
  { actor = UNKNOWN_ACTOR, reason = '', permitted }: CommandInput,
  nowMs: number,
): PipelineState {
  const number = state.nextNumber;
  const deployed = listDeployed(state);
  const why = withReason(`undeploy by release ${number}`, reason);
  const text = state.held ? `${state.held.reason}; ${why}` : why;
  const held = holdPipeline(state, state.held?.actor ?? actor, cutText(text, REQUEST_LIMITS.reason.max), nowMs);
  const deploys = Object.keys(state.spec.actions).filter((name) => state.spec.actions[name]?.type === 'deploy');
  const newestBegun = { ...state.newestBegun, ...Object.fromEntries(deploys.map((name) => [name, number])) };
  const by = permitted === undefined ? {} : { permitted };
  const trigger = { kind: 'undeploy', actor, key: null, reason, ...by } as const;
  return queueRelease({ ...held, newestBegun }, [], trigger, nowMs, { deployed });
}
