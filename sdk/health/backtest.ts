import { ConveyorError } from '../../domain/errors';
import { attempt, buildBacktest, type Attempt, type Backtest, type Trial } from '../../domain/health/backtest';
import type { PastDeploy } from '../../domain/health/pastDeploy';
import { evaluateRecording, type Tick } from '../../domain/health/replay';
import type { HealthCheck } from '../../domain/spec/health';
import type { Label, RecordingLabel } from '../protocol/backtest';

/** The evaluation interval of recordings, which have no deploy to define it. */
const RECORDING_INTERVAL_MS = 60_000;

export interface BacktestRequest {
  readonly checks: readonly HealthCheck[];
  readonly deploys: readonly PastDeploy[];
  /** Labels by people, who may know better than the outcome of a deploy, and their own recordings. */
  readonly labels: readonly Label[];
  /** The answer of a push type about the checks of a deploy (`pastTicks`). */
  readonly ask: (deploy: PastDeploy, checks: readonly HealthCheck[]) => Promise<readonly Tick[]>;
  /** Called after each deploy with how many are done. */
  readonly onProgress?: (done: number) => void;
}

/**
 * Tries each check on past deploys and on labelled cases; one result per check, in order. A deploy is not counted if
 * its push type refuses its evaluations, for example because a unit is gone, or if the push type itself is gone. If
 * that is true of all deploys, the refusal is thrown, as is any other error of `ask`.
 */
export async function backtestChecks({
  checks,
  deploys,
  labels,
  ask,
  onProgress,
}: BacktestRequest): Promise<Backtest[]> {
  const attempts = checks.map((check) => ({ check, made: [] as Attempt[] }));
  const refusals: ConveyorError[] = [];
  for (const [done, deploy] of deploys.entries()) {
    const ticks = await ticksOrRefusal(refusals, () => ask(deploy, checks));
    const trial = createTrial(deploy, ticks, labels);
    // Works through the deploys one by one: answers need not be kept, and other work gets its turn in between.
    for (const { check, made } of attempts) made.push(attempt(check, trial));
    onProgress?.(done + 1);
  }
  const [refusal] = refusals;
  if (refusal && refusals.length === deploys.length) throw refusal;
  return attempts.map(({ check, made }) => {
    const recordings = buildRecordedTrials(check, labels).map((trial) => attempt(check, trial));
    return buildBacktest(check, [...made, ...recordings]);
  });
}

/** Refusals that concern one deploy only: its unit, or its push type, no longer exists. */
const DEPLOY_REFUSALS: ReadonlySet<string> = new Set(['extension-rejected', 'unknown-extension']);

/** The answer, or its refusal. */
async function ticksOrRefusal(
  refusals: ConveyorError[],
  ask: () => Promise<readonly Tick[]>,
): Promise<readonly Tick[] | ConveyorError> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ConveyorError) || !DEPLOY_REFUSALS.has(error.code)) throw error;
    refusals.push(error);
    return error;
  }
}

function createTrial(
  { id, truth, cutShort }: PastDeploy,
  asked: readonly Tick[] | ConveyorError,
  labels: readonly Label[],
): Trial {
  if (asked instanceof ConveyorError)
    return { id, isBad: null, why: asked.message, faultAt: null, cutShort, ticks: [] };
  const label = labels.find((each) => 'deploy' in each && each.deploy === id);
  if (label) return { id, ...toLabelTruth(label), cutShort, ticks: asked };
  const isBad = truth.kind === 'unknown' ? null : truth.kind === 'bad';
  return { id, isBad, why: truth.why, faultAt: null, cutShort, ticks: asked };
}

function buildRecordedTrials(check: HealthCheck, labels: readonly Label[]): Trial[] {
  return labels.filter(isRecording).flatMap((label) => {
    if (label.check !== undefined && label.check !== check.name) return [];
    const ticks = [...evaluateRecording(check, label.recording, RECORDING_INTERVAL_MS)];
    return [{ id: label.name, ...toLabelTruth(label), cutShort: false, ticks }];
  });
}

const isRecording = (label: Label): label is RecordingLabel => 'recording' in label;

const toLabelTruth = ({ bad, why, faultAt }: Label) => ({
  isBad: bad,
  why: why ?? 'labelled',
  faultAt: faultAt ?? null,
});
