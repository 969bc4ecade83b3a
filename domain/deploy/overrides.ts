import type { DeploySpec } from '../spec/deploy';
import type { Override } from '../views';
import { forgive, SYSTEM, type GivenCommand, type Control } from './control';
import { change, note, type DeployRecord } from './state';

/**
 * The record with the unhealthy checks that a person lets pass: checks that count and were unhealthy in the last evaluation, and that a
 * person has skipped, or that paused the deploy before a person resumed it. For each check, the first such person is recorded.
 */
export function withOverrides(
  record: DeployRecord,
  {
    healthChecks,
  }: { readonly healthChecks: readonly Pick<DeploySpec['healthChecks'][number], 'name' | 'onUnhealthy'>[] },
): DeployRecord {
  const { control, health, overridden } = record;
  if (control.skippedChecks.length === 0 && control.resuming === null) return record;
  const fresh = healthChecks.flatMap(({ name, onUnhealthy }): Override[] => {
    if (onUnhealthy === 'ignore' || overridden.some(({ check }) => check === name)) return [];
    if (!health.some(({ check, verdict }) => check === name && verdict === 'unhealthy')) return [];
    const asked = whoLetsPass(control, name);
    return asked ? [{ check: name, actor: asked.actor, reason: asked.reason, at: asked.at }] : [];
  });
  return fresh.length === 0 ? record : { ...record, overridden: [...overridden, ...fresh] };
}

/** A check that was unhealthy before any update cannot show whether the deploy makes it worse (docs/design/deploy.md#emergency-push). */
export function withForgiven(record: DeployRecord, reason: string, nowMs: number): DeployRecord {
  const checks = [...new Set(record.health.flatMap((row) => (row.verdict === 'unhealthy' ? [row.check] : [])))];
  const forgiven = change(record, nowMs, { control: forgive(record.control, checks, reason, nowMs) });
  return note(forgiven, nowMs, 'check-skipped', `${checks.join(', ')} not counted: ${reason}`);
}

/** If only the system itself skipped a check, no person has decided. */
function whoLetsPass({ skippedChecks, paused, resuming }: Control, name: string): GivenCommand | null {
  const skips = skippedChecks.filter(({ check }) => check === null || check === name);
  if (skips.length > 0) return skips.find(({ actor }) => actor !== SYSTEM) ?? null;
  return paused?.by === 'health' ? resuming : null;
}
