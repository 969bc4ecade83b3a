import { Context } from '@temporalio/activity';
import { limitTargets, type TaskCounts } from '../domain/deploy/lockstep';
import { revertTargets, withoutPast } from '../domain/deploy/planRevert';
import type { RevertRules } from '../domain/deploy/versionBefore';
import type { PlannedTarget } from '../domain/deploy/plan';
import type { MissedTarget, SiftProgress } from '../domain/deploy/sift';
import { toNamed, NONE_NAMED, selectUnits, type NamedUnits, type Part, type Snapshot } from '../domain/deploy/snapshot';
import { FLEET_LIMITS, SHOWN_UNITS } from '../domain/fleet/limits';
import { CANCEL_BEAT_MS } from './cancellation';
import { withHeartbeats } from './clock';
import { isNonRetryable } from './failure';
import { stillThere } from './fetchUnits';
import {
  inChunks,
  otherCanaries,
  pushRequestKey,
  toWire,
  getTargetUnit,
  listCanaryUpdates,
  type DeployCall,
  type Invoke,
  type PushPorts,
} from './pushCalls';
import { withJoined } from './snapshots';
import { beginSifting, mergeSentParts, siftTargets, type SendAs } from './sift';

/** A request to bring back every task that these updates have reached. */
export interface RevertRequest {
  readonly updateId: string;
  readonly parts: readonly Part[];
  readonly snapshot: Snapshot;
  /** Includes the units that joined. */
  readonly now?: Snapshot;
  readonly rules: RevertRules;
  readonly updatedBy: readonly string[];
  /** Lockstep: the number of tasks of each unit; other units are left alone. */
  readonly counts?: TaskCounts;
  /** Lockstep: units that the push type has refused to take back; they come last. */
  readonly aside?: readonly string[];
}

/** The result of sending. */
export interface SentRevert {
  /** The ids under which it was sent: more than one if a part was refused. */
  readonly updateIds: readonly string[];
  /** The units; if there are many, only as many as are shown. */
  readonly units: readonly { readonly id: string; readonly toVersion: string }[];
  readonly count: number;
  /** Units that no longer exist. */
  readonly gone: NamedUnits;
  /** Units that the push type does not take back, with reasons; only the first if there are many. */
  readonly refused: readonly MissedTarget[];
  /** The number of all refused units; left out if there are none. */
  readonly refusedCount?: number;
  /** Units that stay unchanged, since their earlier version is unknown; left out if there are none. */
  readonly withoutPast?: NamedUnits;
}

/** A revert is tried as a whole this many times. Then it is sent in parts even if there is no answer. */
const WHOLE_ATTEMPTS = 2;

/** The heartbeat for the next attempt, once some part was taken: the indexes of targets that are gone, and the progress of the others. */
interface SiftHeartbeat extends SiftProgress {
  readonly gone: readonly number[];
  /** Updates of canaries that are left alone when the parts are sent. */
  readonly exclude?: readonly string[];
}

/**
 * A revert goes out at once, without asking anything first. If the push type refuses it, it is sent again without the tasks of running canaries,
 * then without units that are gone, and then in parts. So every unit that can go back does, even if the push type refuses others, or never answers
 * a request about them.
 */
export function createRevertActivities(ports: PushPorts, invoke: Invoke) {
  return {
    revertUpdates: async (call: DeployCall, request: RevertRequest): Promise<SentRevert> => {
      const context = Context.current();
      let kept = (context.info.heartbeatDetails ?? undefined) as SiftHeartbeat | undefined;
      const beat = (): void => context.heartbeat(kept);
      const keep = (sifting: SiftHeartbeat): void => {
        if (sifting.taken.length > 0) kept = sifting;
      };
      return withHeartbeats(CANCEL_BEAT_MS, beat, async () => {
        const reached = await selectReachedUnits(ports, request);
        const targets = limitTargets(revertTargets(reached, request.rules, request.updatedBy), request.counts);
        const begun = kept ?? (await sendWhole(ports, invoke, call, request.updateId, targets));
        const sendAs = sender(call, invoke, begun?.exclude);
        // The next attempt continues from the state at the end of this one.
        const sent = begun
          ? await sendParts(targets, request.updateId, begun, { sendAs, keep }).finally(beat)
          : buildRevertSent(request.updateId, targets);
        const lost = withoutPast(reached, request.rules).map(({ id }) => id);
        const stay = lost.length > 0 ? await stillThere(invoke, call, lost) : [];
        return stay.length > 0 ? { ...sent, withoutPast: toNamed(stay, FLEET_LIMITS.leftOut) } : sent;
      });
    },
  };
}

const sender =
  (call: DeployCall, invoke: Invoke, exclude: readonly string[] = []): SendAs =>
  async (updateId, targets) => {
    const name = pushRequestKey(`${updateId}/execute`, exclude);
    for (const { items, key } of inChunks(call, targets, getTargetUnit)) {
      const request = { updateId, wholeUnit: false, urgency: 'revert' as const, ...toWire(call, items, exclude) };
      await invoke(call, 'executeUpdates', request, key(name));
    }
  };

/** @returns the state for sending in parts, if the whole is not taken. @throws if it should be tried again unchanged */
async function sendWhole(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  updateId: string,
  targets: readonly PlannedTarget[],
): Promise<SiftHeartbeat | undefined> {
  const answer = await sendOnce(sender(call, invoke), updateId, targets);
  if (answer === 'taken') return undefined;
  // A lock that does not answer must not delay a revert.
  const exclude = listCanaryUpdates(await otherCanaries(ports, { ...call, back: true }));
  const isBeside = answer === 'refused' && exclude.length > 0;
  if (isBeside && (await sendOnce(sender(call, invoke, exclude), updateId, targets)) === 'taken') return undefined;
  const there = new Set(await stillThere(invoke, call, targets.map(getTargetUnit)));
  const gone = targets.flatMap(({ unit }, nth) => (there.has(unit) ? [] : [nth]));
  return { ...beginSifting(call, targets.length - gone.length, gone.length === 0), gone, exclude };
}

/** @throws if the same request should be tried again */
async function sendOnce(
  sendAs: SendAs,
  updateId: string,
  targets: readonly PlannedTarget[],
): Promise<'taken' | 'refused' | 'silent'> {
  try {
    await sendAs(updateId, targets);
    return 'taken';
  } catch (error) {
    const { info, cancellationSignal } = Context.current();
    const isInParts = info.attempt > WHOLE_ATTEMPTS && targets.length > 1;
    if (cancellationSignal.aborted || (!isNonRetryable(error) && !isInParts)) throw error;
    return isNonRetryable(error) ? 'refused' : 'silent';
  }
}

async function sendParts(
  targets: readonly PlannedTarget[],
  updateId: string,
  begun: SiftHeartbeat,
  { sendAs, keep }: { readonly sendAs: SendAs; readonly keep: (sifting: SiftHeartbeat) => void },
): Promise<SentRevert> {
  const { gone, exclude = [] } = begun;
  const places = new Set(gone);
  const there = targets.filter((_, nth) => !places.has(nth));
  const report = (sifting: SiftProgress): void => keep({ ...sifting, gone, exclude });
  const sifting = await siftTargets(there, updateId, begun, { sendAs, report });
  return {
    ...buildRevertSent(updateId, there),
    updateIds: await mergeSentParts(there, updateId, sifting, sendAs),
    gone: toNamed(targets.filter((_, nth) => places.has(nth)).map(getTargetUnit), FLEET_LIMITS.leftOut),
    refused: sifting.named,
    refusedCount: sifting.missed,
  };
}

const buildRevertSent = (updateId: string, targets: readonly PlannedTarget[]): SentRevert => ({
  updateIds: targets.length === 0 ? [] : [updateId],
  units: targets.slice(0, SHOWN_UNITS).map(({ unit, version }) => ({ id: unit, toVersion: version })),
  count: targets.length,
  gone: NONE_NAMED,
  refused: [],
});

/** All targets of a revert. */
export async function allTargets(ports: PushPorts, request: RevertRequest): Promise<PlannedTarget[]> {
  return revertTargets(await selectReachedUnits(ports, request), request.rules, request.updatedBy);
}

const selectReachedUnits = async ({ snapshots }: PushPorts, { snapshot, now, parts }: RevertRequest) =>
  selectUnits(await withJoined(snapshots, snapshot, now), parts);
