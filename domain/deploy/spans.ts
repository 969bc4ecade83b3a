import type { DeployState, Pause, Spans } from '../views';

/**
 * The time accounts of a deploy (docs/design/deploy.md#spans): overlapping reasons count once, in the order revert, paused, dependency, then the
 * state.
 */
export const NO_TIME: Spans = {
  lockWaitMs: 0,
  windowWaitMs: 0,
  pausedMs: 0,
  dependencyWaitMs: 0,
  preMs: 0,
  updateMs: 0,
  bakeMs: 0,
  postMs: 0,
  revertMs: 0,
  overheadMs: 0,
};

const ACCOUNT: Readonly<Record<DeployState, keyof Spans>> = {
  planning: 'overheadMs',
  'waiting-lock': 'lockWaitMs',
  'waiting-window': 'windowWaitMs',
  preprocessing: 'preMs',
  updating: 'updateMs',
  baking: 'bakeMs',
  postprocessing: 'postMs',
  reverting: 'revertMs',
  removing: 'updateMs',
  ended: 'overheadMs',
};

/** All states of a deploy, in the order in which it passes them. */
export const DEPLOY_STATES = Object.keys(ACCOUNT) as readonly DeployState[];

interface Accountable {
  readonly stage: DeployState;
  readonly accountedMs: number;
  readonly spans: Spans;
  readonly control: { readonly paused: Pause | null };
}

/** The spans with the time up to `nowMs` added; unchanged after the end. */
export function accrue(of: Accountable, nowMs: number): Spans {
  const spentMs = nowMs - of.accountedMs;
  if (spentMs <= 0 || of.stage === 'ended') return of.spans;
  const account = pickSpan(of);
  return { ...of.spans, [account]: of.spans[account] + spentMs };
}

function pickSpan({ stage, control }: Accountable): keyof Spans {
  if (stage === 'reverting') return 'revertMs';
  if (control.paused) return control.paused.by === 'dependency' ? 'dependencyWaitMs' : 'pausedMs';
  return ACCOUNT[stage];
}
