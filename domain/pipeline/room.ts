import { skipsTheQueue } from '../release/urgent';
import { STATE_LIMITS } from '../limits';
import { jsonBytes, newestWithin } from '../size';
import type { PipelineSpec } from '../spec/pipeline';
import { identified } from '../artifact';
import type { ActiveRelease, PipelineState } from './state';

/** How many releases a pipeline has room for: those that wait, and those that run with all that they may ask it for. */
export const isQueued = ({ state }: ActiveRelease): boolean => state === 'queued';

/** Of an artifact whose version is the longest: what identifies it, in JSON. */
const IDENTITY_BYTES = 550;
/** What an action that asks for its turn takes besides, and each exclusion group of it. */
const ASKING_BYTES = 150;
const GROUP_BYTES = 66;

/** What the actions of a release may take in the state of its pipeline while they wait for their turn or have it. */
function askingBytes({ actions }: Pick<PipelineSpec, 'actions'>, isOfDeploysOnly: boolean): number {
  const sizes = Object.values(actions).map(({ type, inputs, mutex }) => {
    if (type === 'deploy') return ASKING_BYTES + mutex.length * GROUP_BYTES + inputs.length * IDENTITY_BYTES;
    if (isOfDeploysOnly || (type !== 'manual-pick' && mutex.length === 0)) return 0;
    return ASKING_BYTES + mutex.length * GROUP_BYTES;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** What a release takes from its start to its end: it is known by the identity of its artifacts then. */
function claimOf({ spec }: PipelineState, release: ActiveRelease): number {
  const artifacts = release.artifacts.map(identified);
  return jsonBytes({ ...release, artifacts }) + askingBytes(spec, skipsTheQueue(release.trigger));
}

/** How many of the releases that wait in line may start besides those that run: one in any case. */
export function startsWithin(state: PipelineState, waiting: readonly ActiveRelease[]): number {
  const running = state.active.filter((release) => !isQueued(release) && !skipsTheQueue(release.trigger));
  let taken = running.reduce((sum, release) => sum + claimOf(state, release), 0);
  let count = 0;
  for (const release of waiting) {
    taken += claimOf(state, release);
    if (taken > STATE_LIMITS.running.max && running.length + count > 0) break;
    count += 1;
  }
  return count;
}

/** So many of the oldest in a line do not fit, so that the others do. */
export function surplusOf(line: readonly ActiveRelease[]): number {
  const { queued, queuedTogether } = STATE_LIMITS;
  return line.length - newestWithin(line, queuedTogether.max, queued.max).length;
}

/** Why another emergency cannot be taken while others are under way; undefined when it can. */
export function noRoomForEmergency(state: PipelineState, emergency: ActiveRelease): string | undefined {
  const others = state.active.filter(({ trigger }) => trigger.kind === 'emergency');
  const bytes = [...others, emergency].reduce((sum, one) => sum + Math.max(jsonBytes(one), claimOf(state, one)), 0);
  if (others.length === 0 || bytes <= STATE_LIMITS.emergencies.max) return undefined;
  return `${others.length === 1 ? 'another emergency is' : `${others.length} emergencies are`} under way, and there is no room for one more`;
}

/** So many bytes are left for the units of another follow-on. */
export function followOnRoom({ active }: PipelineState): number {
  const taken = active.reduce((sum, { followOn }) => sum + (followOn ? jsonBytes(followOn.units) : 0), 0);
  return Math.max(0, STATE_LIMITS.followOnUnits.max - taken);
}
