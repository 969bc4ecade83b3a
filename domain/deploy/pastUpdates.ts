import type { DeployStatus, PhaseView } from '../views';
import { computeTotals } from './counts';
import { sum } from '../health/series';

/**
 * The mean duration of the updates of a phase in these deploys, in ms, without pauses and closed windows. Null if none of them
 * updated anything.
 */
export function meanUpdateMs(deploys: readonly Pick<DeployStatus, 'phases' | 'spans'>[]): number | null {
  const phases = sum(deploys.map((deploy) => deploy.phases.filter(hasUpdated).length));
  return phases === 0 ? null : Math.round(sum(deploys.map(({ spans }) => spans.updateMs)) / phases);
}

const hasUpdated = (phase: PhaseView): boolean => phase.updatedAt !== null && computeTotals(phase).targeted > 0;
