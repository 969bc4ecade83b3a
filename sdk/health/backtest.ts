import { backtest, type Backtest, type Trial } from '../../domain/health/backtest';
import type { PastDeploy } from '../../domain/health/pastDeploy';
import { ticksOf, type Tick } from '../../domain/health/replay';
import type { HealthCheck } from '../../domain/spec/health';
import type { Label, RecordingLabel } from '../protocol/backtest';

/** How often recordings are evaluated that have no deploy to say so. */
const RECORDING_INTERVAL_MS = 60_000;

export interface BacktestRequest {
  readonly checks: readonly HealthCheck[];
  readonly deploys: readonly PastDeploy[];
  /** What people know better than the fate of a deploy, and recordings of their own. */
  readonly labels: readonly Label[];
  /** What the push type of a deploy says of the checks (`pastTicks`). */
  readonly ask: (deploy: PastDeploy, checks: readonly HealthCheck[]) => Promise<readonly Tick[]>;
  /** Told after each deploy how many are done. */
  readonly onProgress?: (done: number) => void;
}

/** Tries each check on past deploys and on what is labelled; one answer a check, in their order. Throws what `ask` throws. */
export async function backtestChecks({
  checks,
  deploys,
  labels,
  ask,
  onProgress,
}: BacktestRequest): Promise<Backtest[]> {
  const trials: Trial[] = [];
  for (const deploy of deploys) {
    trials.push(trialOf(deploy, await ask(deploy, checks), labels));
    onProgress?.(trials.length);
  }
  return checks.map((check) => backtest(check, [...trials, ...recorded(check, labels)]));
}

function trialOf({ id, truth, cutShort }: PastDeploy, ticks: readonly Tick[], labels: readonly Label[]): Trial {
  const label = labels.find((each) => 'deploy' in each && each.deploy === id);
  if (label) return { id, ...knownBy(label), cutShort, ticks };
  return {
    id,
    isBad: truth.kind === 'unknown' ? null : truth.kind === 'bad',
    why: truth.why,
    faultAt: null,
    cutShort,
    ticks,
  };
}

function recorded(check: HealthCheck, labels: readonly Label[]): Trial[] {
  return labels.filter(isRecording).flatMap((label) => {
    if (label.check !== undefined && label.check !== check.name) return [];
    const ticks = [...ticksOf(check, label.recording, RECORDING_INTERVAL_MS)];
    return [{ id: label.name, ...knownBy(label), cutShort: false, ticks }];
  });
}

const isRecording = (label: Label): label is RecordingLabel => 'recording' in label;

const knownBy = ({ bad, why, faultAt }: Label) => ({ isBad: bad, why: why ?? 'labelled', faultAt: faultAt ?? null });
