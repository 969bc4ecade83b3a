import { log } from '@temporalio/activity';
import type { Counted } from '../domain/deploy/counts';
import { targetsFor, type Want } from '../domain/deploy/plan';
import { deniedOf, judgeDenied } from '../domain/deploy/progress';
import type { UnitProgress } from '../domain/fleet/unit';
import { plural } from '../domain/text';
import { isNonRetryable } from './failure';
import type { Looked } from './look';
import { reservedUpdates, unitNeeds, unitOf, type DeployCall, type Invoke, type PushPorts } from './pushCalls';
import { allTargets, type RevertRequest } from './reverts';
import { unitsIn } from './snapshots';
import { trackUnits, type TrackedUpdate, type Tracking } from './tracking';

/** How long to follow an update: until its criterion is met or cannot be met any more. */
export interface Following extends Tracking {
  readonly intervalMs: number;
  readonly heartbeatTimeoutMs: number;
  readonly proof?: Proof;
}

/** What the units are to run afterwards, by which the push type is asked whether it is there. */
export interface Proof {
  readonly brings: { readonly want: Want } | { readonly back: RevertRequest };
  /** So long it may take to count what an update has brought. */
  readonly patienceMs: number;
}

/** What a look heartbeats; `doubtedMs`: since when the push type counts as outdated what it says is done. */
export type Followed = Counted & Pick<TrackedUpdate, 'waits'> & { readonly doubtedMs?: number };

/**
 * One look at an update. A known update id gets the first answer (docs/reference/protocols.md#executeupdates), which may be that of a
 * release which a restore has lost: one that is over before anybody saw it under way is believed once nothing of it counts as outdated.
 */
export async function lookAtUpdates(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  following: Following,
  now: number,
  before: Followed | undefined,
): Promise<Looked<TrackedUpdate, Followed>> {
  const { tracked, all } = await trackUnits(ports, invoke, call, following);
  const { units, totals, waits, progress } = tracked;
  const seen = { units, totals, ...(waits ? { waits } : {}) };
  if (progress.kind === 'going') return { seen, message: `${totals.live} of ${plural(totals.targeted, 'task')} live` };
  const { proof, updateIds } = following;
  const isSeenUnderWay = before !== undefined && before.doubtedMs === undefined;
  if (progress.kind !== 'met' || proof === undefined || isSeenUnderWay) return { done: tracked };
  const denied = await deniedTasks(ports, invoke, call, following, proof, all);
  if (denied === 0) return { done: tracked };
  const doubtedMs = before?.doubtedMs ?? now;
  if (now - doubtedMs < proof.patienceMs)
    return { seen: { ...seen, doubtedMs }, message: 'done, but not all of it counts as up to date' };
  return { done: denied === null ? tracked : { ...tracked, progress: judgeDenied(updateIds, denied) } };
}

/** How many tasks `needsPush` counts as outdated of those that are done; null where the push type does not answer now. */
async function deniedTasks(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  { selection }: Tracking,
  { brings }: Proof,
  tracked: readonly UnitProgress[],
): Promise<number | null> {
  const known = new Set(tracked.map(({ id }) => id));
  try {
    const isBack = 'back' in brings;
    const exclude = isBack ? [] : await reservedUpdates(ports, call);
    const targets = isBack
      ? await allTargets(ports, brings.back)
      : targetsFor(await unitsIn(ports.snapshots, selection), brings.want);
    const asked = targets.filter((target) => known.has(unitOf(target)));
    return deniedOf(tracked, await unitNeeds(invoke, call, asked, exclude));
  } catch (error) {
    log.warn('whether an update has brought what it says cannot be asked', { error: String(error) });
    return isNonRetryable(error) ? 0 : null;
  }
}
