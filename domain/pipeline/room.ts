import { skipsTheQueue } from '../release/urgent';
import { STATE_LIMITS } from '../limits';
import { jsonBytes, newestWithin } from '../size';
import type { PipelineSpec } from '../spec/pipeline';
import { pickIdentity } from '../artifact';
import type { ActiveRelease, PipelineState } from './state';

/**
 * A queued release waits for room. The functions below measure the room for queued releases, and for running ones with
 * all that they may ask for.
 */
export const isQueued = ({ state }: ActiveRelease): boolean => state === 'queued';

/** The identity of an artifact with the longest version, in JSON. */
const IDENTITY_BYTES = 550;
/** The further size of an action that asks for its turn, and of each of its exclusion groups. */
const ASKING_BYTES = 150;
const GROUP_BYTES = 66;

/** The size of a release's actions in the state of its pipeline while they wait for their turn or have it. */
function countAskingBytes({ actions }: Pick<PipelineSpec, 'actions'>, isOfDeploysOnly: boolean): number {
  const sizes = Object.values(actions).map(({ type, inputs, mutex }) => {
    if (type === 'deploy') return ASKING_BYTES + mutex.length * GROUP_BYTES + inputs.length * IDENTITY_BYTES;
    if (isOfDeploysOnly || (type !== 'manual-pick' && mutex.length === 0)) return 0;
    return ASKING_BYTES + mutex.length * GROUP_BYTES;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The size of a release from its start to its end, with its artifacts reduced to their identities. */
function measureClaim({ spec }: PipelineState, release: ActiveRelease): number {
  const artifacts = release.artifacts.map(pickIdentity);
  return jsonBytes({ ...release, artifacts }) + countAskingBytes(spec, skipsTheQueue(release.trigger));
}

/** The number of releases in line that may start in addition to the running ones; at least one if none runs. */
export function startsWithin(state: PipelineState, waiting: readonly ActiveRelease[]): number {
  const running = state.active.filter((release) => !isQueued(release) && !skipsTheQueue(release.trigger));
  let taken = running.reduce((sum, release) => sum + measureClaim(state, release), 0);
  let count = 0;
  for (const release of waiting) {
    taken += measureClaim(state, release);
    if (taken > STATE_LIMITS.running.max && running.length + count > 0) break;
    count += 1;
  }
  return count;
}

/** The number of the oldest releases in a line that have to go so that the others fit. */
export function countSurplus(line: readonly ActiveRelease[]): number {
  const { queued, queuedTogether } = STATE_LIMITS;
  return line.length - newestWithin(line, queuedTogether.max, queued.max).length;
}

/** The reason why another emergency cannot be taken while others are under way; undefined if it can. */
export function noRoomForEmergency(state: PipelineState, emergency: ActiveRelease): string | undefined {
  const others = state.active.filter(({ trigger }) => trigger.kind === 'emergency');
  const bytes = [...others, emergency].reduce(
    (sum, one) => sum + Math.max(jsonBytes(one), measureClaim(state, one)),
    0,
  );
  if (others.length === 0 || bytes <= STATE_LIMITS.emergencies.max) return undefined;
  return `${others.length === 1 ? 'another emergency is' : `${others.length} emergencies are`} under way, and there is no room for one more`;
}

/** The number of bytes left for the units of another follow-on. */
export function followOnRoom({ active }: PipelineState): number {
  const taken = active.reduce((sum, { followOn }) => sum + (followOn ? jsonBytes(followOn.units) : 0), 0);
  return Math.max(0, STATE_LIMITS.followOnUnits.max - taken);
}
