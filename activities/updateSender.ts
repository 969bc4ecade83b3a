import type { PlannedTarget } from '../domain/deploy/plan';
import { toNamed, NONE_NAMED, type NamedUnits } from '../domain/deploy/snapshot';
import { FLEET_LIMITS } from '../domain/fleet/limits';
import { canariesOn } from '../domain/mutex';
import { isNonRetryable } from './failure';
import { stillThere } from './fetchUnits';
import {
  eachChunk,
  otherCanaries,
  pushRequestKey,
  toWire,
  getTargetUnit,
  listCanaryUpdates,
  type DeployCall,
  type Invoke,
  type PushPorts,
} from './pushCalls';
import { beginSifting, mergeSentParts, siftTargets } from './sift';

/** An update of a phase. */
export interface PhaseUpdateRequest {
  readonly updateId: string;
  readonly wholeUnit: boolean;
  /** Sends nothing while a canary is on one of the units. If missing, the update leaves the tasks of canaries alone. */
  readonly awaitsCanaries?: true;
}

/** The result of sending: the number of units, the ids of the updates, and the units that refused. */
export interface SentUpdates {
  readonly updateIds: readonly string[];
  readonly count: number;
  readonly refused: NamedUnits;
  /** For a rollback: units that no longer exist, and that it does not wait for. */
  readonly gone?: NamedUnits;
  /** The reason of the first unit that refused. */
  readonly why?: string;
  /** The canaries in the way, because of which nothing was sent. */
  readonly canaries?: readonly string[];
}

/** Sends an update. In a rollback, as in a revert, a unit that refuses does not keep the others from being updated. */
export async function sendUpdates(
  ports: PushPorts,
  invoke: Invoke,
  call: DeployCall,
  { updateId, wholeUnit, awaitsCanaries }: PhaseUpdateRequest,
  targets: readonly PlannedTarget[],
): Promise<SentUpdates> {
  const present = await otherCanaries(ports, call);
  const inTheWay = awaitsCanaries ? canariesOn(present, targets.map(getTargetUnit)) : [];
  if (inTheWay.length > 0)
    return { ...NOT_SENT, count: targets.length, canaries: inTheWay.map(({ requester }) => requester) };
  const exclude = listCanaryUpdates(present);
  const accepted: string[] = [];
  const sendAs = async (id: string, some: readonly PlannedTarget[]): Promise<void> => {
    const name = pushRequestKey(`${id}/execute`, exclude);
    const taken = await eachChunk(call, some, getTargetUnit, async ({ items, key }) => {
      const request = { updateId: id, wholeUnit, urgency: 'normal' as const, ...toWire(call, items, exclude) };
      return (await invoke(call, 'executeUpdates', request, key(name))).accepted;
    });
    accepted.push(...taken);
  };
  const sent = async (updateIds: readonly string[]): Promise<SentUpdates> => {
    const missing = idsWithout(targets.map(getTargetUnit), accepted);
    const refused = call.back && missing.length > 0 ? await stillThere(invoke, call, missing) : missing;
    const gone = idsWithout(missing, refused);
    return {
      ...{ updateIds, count: targets.length - gone.length, refused: toNamed(refused, FLEET_LIMITS.leftOut) },
      ...(gone.length > 0 ? { gone: toNamed(gone, FLEET_LIMITS.leftOut) } : {}),
    };
  };
  try {
    await sendAs(updateId, targets);
    return await sent([updateId]);
  } catch (error) {
    if (!call.back || !isNonRetryable(error)) throw error;
  }
  const begun = beginSifting(call, targets.length, true);
  const sifting = await siftTargets(targets, updateId, begun, { sendAs, report: () => undefined });
  const [first] = sifting.named;
  return {
    ...(await sent(await mergeSentParts(targets, updateId, sifting, sendAs))),
    ...(first ? { why: first.reason } : {}),
  };
}

const NOT_SENT = { updateIds: [], refused: NONE_NAMED } as const;

function idsWithout(ids: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return ids.filter((id) => !known.has(id));
}
