import { log } from '@temporalio/activity';
import type { UpdateUnitCounts } from '../domain/deploy/counts';
import { limitTargets, type TaskCounts } from '../domain/deploy/lockstep';
import { targetsFor, type PlannedTarget, type Want } from '../domain/deploy/plan';
import { countDenied, countDeniedUnderWay, judgeDenied, type OutdatedUnit } from '../domain/deploy/deniedUpdates';
import { countUntouchedTasks } from '../domain/deploy/progress';
import type { UnitProgress } from '../domain/fleet/unit';
import { plural } from '../domain/text';
import { isNonRetryable } from './failure';
import { askOfPresent } from './fetchUnits';
import type { ActivityLookResult } from './look';
import {
  findReservedUpdates,
  unitNeeds,
  getTargetUnit,
  type DeployCall,
  type Invoke,
  type PushPorts,
} from './pushCalls';
import { allTargets, type RevertRequest } from './reverts';
import { unitsIn } from './snapshots';
import { trackUnits, type UpdateTrackingResult, type TrackedUpdate, type UpdateTrackingRequest } from './unitTracker';

/** How long to follow an update: until its criterion is met or can no longer be met. */
export interface UpdateFollowRequest extends UpdateTrackingRequest {
  readonly intervalMs: number;
  readonly heartbeatTimeoutMs: number;
  readonly proof?: Proof;
}

/** The version that the units are to run afterwards; the push type is asked whether they do. */
export interface Proof {
  readonly brings:
    { readonly want: Want; /** For a stride. */ readonly counts?: TaskCounts } | { readonly back: RevertRequest };
  /** The time that `needsPush` has to confirm an update that claims to be done; ms. */
  readonly patienceMs: number;
}

/**
 * The heartbeat of a look. `underWay`: some look has seen the update running; `doubtedMs`: the time since which its
 * claim to be done is in doubt.
 */
export type FollowHeartbeat = UpdateUnitCounts &
  Pick<TrackedUpdate, 'waits'> & { readonly underWay?: true; readonly doubtedMs?: number };

/**
 * One look at an update. Its counts alone do not end it, because the push type may take no task and claim that there was none to take. An update that
 * meets its criterion is believed once `needsPush` agrees. A known update id gets its first answer (docs/reference/protocols.md#executeupdates),
 * which may be from a release that a restore has lost. So if an update is over before any look has seen it running, no task may count as outdated.
 */
export async function lookAtUpdates(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  following: UpdateFollowRequest,
  now: number,
  before: FollowHeartbeat | undefined,
): Promise<ActivityLookResult<TrackedUpdate, FollowHeartbeat>> {
  const { tracked, all } = await trackUnits(ports, invoke, call, following);
  const { proof } = following;
  const underWay = before?.underWay ?? isUnderWay(all);
  const doubted = proof
    ? await correctClaimedResult(ports, invoke, call, { ...following, underWay }, proof, { tracked, all })
    : null;
  const seen = toFollowed(tracked, underWay);
  if (doubted === null) return tracked.progress.kind === 'going' ? reportOngoing(seen) : { done: tracked };
  const doubtedMs = before?.doubtedMs ?? now;
  if (proof && now - doubtedMs < proof.patienceMs)
    return { seen: { ...seen, doubtedMs }, message: 'done, but some of it counts as outdated, or cannot be counted' };
  return { done: doubted };
}

const reportOngoing = (seen: FollowHeartbeat): ActivityLookResult<TrackedUpdate, FollowHeartbeat> => ({
  seen,
  message: `${seen.totals.live} of ${plural(seen.totals.targeted, 'task')} live`,
});

const toFollowed = ({ units, totals, waits }: TrackedUpdate, underWay: boolean): FollowHeartbeat => ({
  ...{ units, totals },
  ...(waits ? { waits } : {}),
  ...(underWay ? { underWay: true } : {}),
});

const isUnderWay = (units: readonly UnitProgress[]): boolean =>
  units.some(({ state }) => state !== 'done' && state !== 'failed');

/** The corrected result of an update that claims to be done but does not count as done; null if there is no doubt. */
async function correctClaimedResult(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  following: UpdateFollowRequest & { readonly underWay: boolean },
  { brings }: Proof,
  { tracked, all }: UpdateTrackingResult,
): Promise<TrackedUpdate | null> {
  const { progress } = tracked;
  const { underWay, earlier } = following;
  // Tasks that earlier tries left pending prove nothing about this one.
  if (progress.kind === 'going')
    return withDeniedTasks(tracked, following, underWay || earlier ? 0 : countUntouchedTasks(all));
  if (progress.kind !== 'met') return null;
  try {
    const needs = await fetchTrackedNeeds(ports, invoke, call, following, brings, all);
    return withDeniedTasks(
      tracked,
      following,
      underWay ? countDeniedUnderWay(all, needs, following) : countDenied(all, needs),
    );
  } catch (error) {
    log.warn('whether an update has brought what it says cannot be asked', { error: String(error) });
    if ('want' in brings) return { ...tracked, unproven: true };
    return isNonRetryable(error) ? null : tracked;
  }
}

/** The result of an update with this many denied tasks; null if there are none. */
const withDeniedTasks = (
  tracked: TrackedUpdate,
  { updateIds, underWay = false }: UpdateTrackingRequest & { readonly underWay?: boolean },
  tasks: number,
): TrackedUpdate | null => (tasks === 0 ? null : { ...tracked, progress: judgeDenied(updateIds, tasks, underWay) });

/** Looks at an update with an immediate proof, for a caller with no time left. @throws the error of the push type */
export async function trackProved(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  tracking: UpdateTrackingRequest & Pick<UpdateFollowRequest, 'proof'>,
): Promise<TrackedUpdate> {
  const { tracked, all } = await trackUnits(ports, invoke, call, tracking);
  const { proof } = tracking;
  if (proof === undefined || tracked.progress.kind !== 'met') return tracked;
  const { brings } = proof;
  const needs = await fetchTrackedNeeds(ports, invoke, call, tracking, brings, all).catch((error: unknown) => {
    // A revert ends even if the proof fails.
    if ('back' in brings) return [];
    throw error;
  });
  return withDeniedTasks(tracked, tracking, countDenied(all, needs)) ?? tracked;
}

/** The answer of `needsPush` for the units of an update. */
async function fetchTrackedNeeds(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  { selection }: UpdateTrackingRequest,
  brings: Proof['brings'],
  tracked: readonly UnitProgress[],
): Promise<OutdatedUnit[]> {
  const known = new Set(tracked.map(({ id }) => id));
  const isBack = 'back' in brings;
  const exclude = isBack ? [] : await findReservedUpdates(ports, call);
  const targets = isBack
    ? await allTargets(ports, brings.back)
    : limitTargets(targetsFor(await unitsIn(ports.snapshots, selection), brings.want), brings.counts);
  const asked = targets.filter((target) => known.has(getTargetUnit(target)));
  // A unit that has gone since has nothing left to count.
  const ask = (some: readonly PlannedTarget[]) => unitNeeds(invoke, call, some, exclude);
  return askOfPresent(invoke, call, asked, { idOf: getTargetUnit, ask });
}
