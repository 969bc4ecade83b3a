import type { DeploySpec } from '../spec/deploy';
import type { Override } from '../views';
import { SYSTEM, type Asked, type Control } from './control';
import type { DeployRecord } from './state';

/**
 * The record with what a person lets pass: checks that count and were unhealthy in the last evaluation that the deploy took in,
 * and that a person has said to skip, or that paused the deploy and a person asks to go on. Of each check the first who did.
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

/** What the system itself does not count is nobody's decision. */
function whoLetsPass({ skippedChecks, paused, resuming }: Control, name: string): Asked | null {
  const skips = skippedChecks.filter(({ check }) => check === null || check === name);
  if (skips.length > 0) return skips.find(({ actor }) => actor !== SYSTEM) ?? null;
  return paused?.by === 'health' ? resuming : null;
}
