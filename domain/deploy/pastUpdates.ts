import type { DeployStatus, PhaseView } from '../views';
import { totalsOf } from './counts';
import { sum } from '../health/series';

/**
 * How long the updates of a phase took in the mean, in ms, in these deploys: the time of pauses and of closed windows is none
 * of it. Null when none of them updated anything.
 */
export function meanUpdateMs(deploys: readonly Pick<DeployStatus, 'phases' | 'spans'>[]): number | null {
  const phases = sum(deploys.map((deploy) => deploy.phases.filter(hasUpdated).length));
  return phases === 0 ? null : Math.round(sum(deploys.map(({ spans }) => spans.updateMs)) / phases);
}

const hasUpdated = (phase: PhaseView): boolean => phase.updatedAt !== null && totalsOf(phase).targeted > 0;
