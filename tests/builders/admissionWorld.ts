import { admit, enqueueReady } from '../../domain/pipeline/admission';
import type { Admission } from '../../domain/release/admission';
import {
  queueRelease,
  markReleaseRunning,
  type ActiveRelease,
  type PipelineState,
  type ReadyAction,
} from '../../domain/pipeline/state';
import type { PipelineSource } from '../../domain/spec/pipeline';
import type { Trigger } from '../../domain/views';
import { artifact, manual, NOW, pipelineOf } from './pipelineWorld';

/** Pipelines with this many running releases, and the requests of their releases. */
export const pipelineWith = (
  releases: number,
  more: Partial<PipelineSource> = {},
  deploys: string[] = ['deploy'],
): PipelineState => {
  let state = pipelineOf(deploys, { mutex: { prod: {}, load: {} }, ...more });
  for (let n = 1; n <= releases; n += 1) state = begunBy(state, manual());
  return state;
};

/** One more running release. */
export const begunBy = (
  state: PipelineState,
  trigger: Trigger,
  more: Pick<ActiveRelease, 'emergency'> = {},
): PipelineState =>
  markReleaseRunning(queueRelease(state, [artifact(`kv:${state.nextNumber}`)], trigger, NOW, more), state.nextNumber);

export const emergency: Trigger = { kind: 'emergency', actor: 'user:alice', key: null, reason: 'outage' };
export const rollback: Trigger = { kind: 'rollback', actor: 'user:alice', key: null, of: 1 };

export const deployOf = (release: number, more: Partial<ReadyAction> = {}): ReadyAction => ({
  release,
  action: 'deploy',
  kind: 'deploy',
  artifacts: [artifact(`kv:${release}`)],
  rollback: false,
  ...more,
});
export const exclusive = (release: number, mutex: string[], action = 'load-test'): ReadyAction => ({
  ...{ release, action, kind: 'exclusive', artifacts: [], rollback: false, mutex },
});
export const pick = (release: number, action = 'approve'): ReadyAction => ({
  ...{ release, action, kind: 'pick', artifacts: [], rollback: false },
});

export const withAsked = (state: PipelineState, ...ready: ReadyAction[]): PipelineState =>
  ready.reduce((next, each) => enqueueReady(next, each, NOW), state);

/** The state once all possible decisions are made. */
export const admittedOf = (state: PipelineState, ...ready: ReadyAction[]): PipelineState =>
  admit(withAsked(state, ...ready), NOW).state;

/** The messages and their receivers, as `1 deploy granted`. */
export const toldOf = (state: PipelineState, nowMs = NOW): string[] =>
  admit(state, nowMs).decisions.map(({ release, action, admission }) => `${release} ${action} ${wordsOf(admission)}`);

const wordsOf = (admission: Admission): string =>
  admission.kind === 'superseded' ? `superseded by ${admission.by}` : admission.kind;

/** The waiting releases with their reasons, as `2 deploy: release 1 deploys`. */
export const waitingOf = (state: PipelineState, nowMs = NOW): string[] =>
  admit(state, nowMs).waiting.map(({ ready: { release, action }, why }) => `${release} ${action}: ${why}`);
