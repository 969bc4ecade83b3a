import type { DeployState } from '../views';
import type { DeployRecord } from './state';

/**
 * The `ConveyorState` of a deploy in Temporal's lists, which show a pause nowhere else: `baking`, or `paused (baking)`.
 */
export const stateTag = ({ stage, control }: Pick<DeployRecord, 'stage' | 'control'>): string =>
  control.paused === null || stage === 'ended' ? stage : `paused (${stage})`;

export const stateOfTag = (tag: string): DeployState => tag.replace(/^paused \((.+)\)$/, '$1') as DeployState;
