import { HEALTH_DATA } from '../../domain/deploy/outcome';
import { tryAutoRevert, type Unhealthy } from '../../domain/deploy/stop';
import type { Pause } from '../../domain/views';
import { interrupt } from '../interrupts';
import type { DeployRecorder } from './recorder';

/**
 * Reverts the deploy if the verdict asks for it; that interrupts the work under way.
 * @returns the reason why it does not revert.
 * @throws an interruption, if it does.
 */
export function revertOnVerdict(run: DeployRecorder, unhealthy: Unhealthy): string {
  const { canary, rollback } = run.input;
  const tried = tryAutoRevert(run.record, { canary, rollback }, unhealthy, Date.now());
  if (tried.kind === 'kept') return tried.reason;
  run.set(() => tried.record);
  return interrupt();
}

/** Reverts the deploy if the verdict asks for it, and pauses it otherwise. */
export function revertOrPause(
  run: DeployRecorder,
  unhealthy: Unhealthy,
  by: Exclude<Pause['by'], 'operator'> = 'health',
): void {
  const reason = revertOnVerdict(run, unhealthy);
  // The judgement needs health data, so health data is the dependency that may be missing.
  if (by === 'dependency') run.pauseOn(reason, { on: HEALTH_DATA });
  else run.pause(by, reason);
}
