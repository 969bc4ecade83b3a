import { counted, type TaskCounts } from '../domain/deploy/lockstep';
import { revertTargets, type RevertRules } from '../domain/deploy/planRevert';
import type { PlannedTarget } from '../domain/deploy/plan';
import { named, selected, type Named, type Part, type Snapshot, type SnapshotUnit } from '../domain/deploy/snapshot';
import { FLEET_LIMITS, SHOWN_UNITS } from '../domain/fleet/limits';
import { isNonRetryable } from './failure';
import { stillThere } from './fetchUnits';
import {
  digestOf,
  inChunks,
  sendEach,
  toWire,
  unitOf,
  type DeployCall,
  type Invoke,
  type PushPorts,
} from './pushCalls';

/** What is to be brought back: every task that these updates touched. */
export interface RevertRequest {
  readonly updateId: string;
  readonly parts: readonly Part[];
  readonly snapshot: Snapshot;
  /** With the units that joined. */
  readonly now?: Snapshot;
  readonly rules: RevertRules;
  readonly updatedBy: readonly string[];
  /** Lockstep: so many tasks of these units, and no others. */
  readonly counts?: TaskCounts;
  /** Lockstep: units that the push type has refused to take back; they come last. */
  readonly aside?: readonly string[];
}

/** What was sent. */
export interface RevertSent {
  /** Under these ids: more than one where something was refused. */
  readonly updateIds: readonly string[];
  /** Of these units; of many the first. */
  readonly units: readonly { readonly id: string; readonly toVersion: string }[];
  readonly count: number;
  /** Units that are there no more. */
  readonly gone: Named;
  /** Units that the push type does not take back, and why. */
  readonly refused: readonly { readonly id: string; readonly reason: string }[];
}

/** So many refusals, and it is not a matter of single units. */
const MOST_REFUSED = 20;
const MAX_REASON = 300;

/**
 * A revert goes out at once and asks for nothing before. Where the push type refuses it, units that are gone are left out, and
 * those that are refused are found by halves, so that all others go back.
 */
export function createRevertActivities(ports: PushPorts, invoke: Invoke) {
  return {
    revertUpdates: async (call: DeployCall, request: RevertRequest): Promise<RevertSent> => {
      const targets = counted(await allTargets(ports, request), request.counts);
      const sender = new Sender(call, invoke, request.updateId);
      let there = targets;
      try {
        for (const { items, key } of inChunks(call, targets, unitOf)) await sender.send(items, key);
      } catch (error) {
        if (!isNonRetryable(error)) throw error;
        there = await presentTargets(invoke, call, targets);
        sender.sent.clear();
        await sendEach(call, there, unitOf, ({ items }) => sender.isolate(items));
      }
      const left = new Set(there);
      return {
        updateIds: [...sender.sent],
        units: there.slice(0, SHOWN_UNITS).map(({ unit, version }) => ({ id: unit, toVersion: version })),
        count: there.length,
        gone: named(targets.filter((target) => !left.has(target)).map(unitOf), FLEET_LIMITS.leftOut),
        refused: sender.refused,
      };
    },
  };
}

/** All that there is to be brought back. */
export async function allTargets(ports: PushPorts, request: RevertRequest): Promise<PlannedTarget[]> {
  const units = selected(await touchable(ports, request), request.parts);
  return revertTargets(units, request.rules, request.updatedBy);
}

/** As they were, with those that joined. */
async function touchable({ snapshots }: PushPorts, { snapshot, now }: RevertRequest): Promise<SnapshotUnit[]> {
  const joined = now === undefined ? [] : (await snapshots.read(now)).filter((unit) => unit.joined);
  return [...(await snapshots.read(snapshot)), ...joined];
}

/** The targets whose units are there. */
async function presentTargets(
  invoke: Invoke,
  call: DeployCall,
  targets: readonly PlannedTarget[],
): Promise<PlannedTarget[]> {
  const there = new Set(await stillThere(invoke, call, targets.map(unitOf)));
  return targets.filter(({ unit }) => there.has(unit));
}

/** Sends the targets of a revert, as one update or in parts with ids of their own. */
class Sender {
  readonly refused: { id: string; reason: string }[] = [];
  /** Update ids. */
  readonly sent = new Set<string>();

  constructor(
    private readonly call: DeployCall,
    private readonly invoke: Invoke,
    private readonly updateId: string,
  ) {}

  async send(
    targets: readonly PlannedTarget[],
    key: (name: string) => string = (name) => name,
    updateId = this.updateId,
  ): Promise<void> {
    if (targets.length === 0) return;
    const request = { updateId, wholeUnit: false, urgency: 'revert' as const, ...toWire(this.call, targets, []) };
    await this.invoke(this.call, 'executeUpdates', request, key(`${updateId}/execute`));
    this.sent.add(updateId);
  }

  /** Halves what is refused until single units are left. @throws the refusal, when there are too many of them. */
  async isolate(targets: readonly PlannedTarget[]): Promise<void> {
    const [first] = targets;
    if (first === undefined) return;
    // An id of its own: the push type may know that of the whole, with other units.
    const part = `${this.updateId}.${digestOf(targets.map(unitOf))}`;
    try {
      await this.send(targets, undefined, part);
    } catch (error) {
      if (!isNonRetryable(error)) throw error;
      if (targets.length === 1) this.refused.push({ id: first.unit, reason: error.message.slice(0, MAX_REASON) });
      if (this.refused.length > MOST_REFUSED) throw error;
      if (targets.length === 1) return;
      const half = Math.ceil(targets.length / 2);
      await this.isolate(targets.slice(0, half));
      await this.isolate(targets.slice(half));
    }
  }
}
