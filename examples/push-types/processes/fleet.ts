import { join } from 'node:path';
import { z } from 'zod';
import {
  Memory,
  newSlot,
  pendingSlots,
  startName,
  unfinished,
  unitOf,
  type Slot,
  type State,
  type UnitState,
} from '../../../sdk/updates';
import { Copies, type CopiesOptions } from './copies';
import { writeTargets } from './targets';

/** The content of `fleet.yaml`. */
export const fleetSchema = z.strictObject({
  service: z.string().min(1),
  firstVersion: z.string().min(1),
  atOnce: z.number().int().positive().default(1),
  units: z.record(
    z.string().regex(/^[a-z][a-z0-9-]*$/),
    z.strictObject({
      copies: z.number().int().nonnegative(),
      labels: z.record(z.string(), z.string()).default({}),
    }),
  ),
});
export type FleetFile = z.output<typeof fleetSchema>;

const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
const PAST_STARTS = 20;

/**
 * The copies on this machine, and the updates that change them. Calls only record the desired state; `step` brings it
 * about, and inspects the processes each time. After a crash, the next step continues from the state that it finds.
 */
export class Fleet {
  readonly copies: Copies;
  readonly memory: Memory;

  constructor(
    readonly file: FleetFile,
    private readonly options: CopiesOptions,
  ) {
    this.copies = new Copies(options);
    this.memory = new Memory(join(options.home, 'state.json'));
    for (const name of this.unitNames) this.resize(name, file.units[name]?.copies ?? 0);
  }

  get state(): State {
    return this.memory.state;
  }

  /** The units of the file, and those that were in it before: their copies must be stopped. */
  get unitNames(): string[] {
    return [...new Set([...Object.keys(this.file.units), ...Object.keys(this.state.units)])];
  }

  /** Added copies start on the version of their unit with the next step, which also stops those beyond the size. */
  resize(name: string, size: number): void {
    const unit = (this.state.units[name] ??= { version: this.file.firstVersion, update: null, starts: [], slots: [] });
    unit.slots.splice(size);
    while (unit.slots.length < size) {
      const index = unit.slots.length;
      unit.starts[index] = Math.max(unit.starts[index] ?? 0, this.lastStart(name, index));
      unit.slots.push(newSlot(unit.version, unit.update));
    }
    this.memory.save();
  }

  /**
   * One round for one unit: checks which copies are live, changes as many as may be down together, and waits until they
   * are up. Returns true while something is left to do. Never call it twice at once for the same unit.
   */
  async step(name: string): Promise<boolean> {
    const unit = unitOf(this.state, name);
    await Promise.all(unit.slots.map((slot, index) => this.look(name, slot, index)));
    const batch = this.nextBatch(name, unit);
    for (const change of batch) begin(unit, change);
    // From here on, after a crash, the next step finds the new identifiers in the memory and stops copies with any other.
    this.publish();
    await Promise.all(this.strangers(name, unit).map((task) => this.copies.stop(task)));
    await Promise.all(batch.map((change) => this.start(name, change)));
    this.finish(name);
    this.publish();
    return unfinished(this.state, name).some((id) => this.isActive(name, id)) || unit.slots.some(isUpdating);
  }

  /** For an unknown slot: if the memory was lost, a running copy must not be taken for the desired one. */
  private lastStart(name: string, index: number): number {
    const before = `${name}/${index}@`;
    const starts = this.copies.known().filter((task) => task.startsWith(before));
    return Math.max(0, ...starts.map((task) => Number(task.slice(before.length))));
  }

  private publish(): void {
    this.memory.save();
    writeTargets(join(this.options.home, 'targets.json'), this.state, (task) => this.copies.address(task));
  }

  private async look(name: string, slot: Slot, index: number): Promise<void> {
    const isLive = await this.copies.isLive(startName(name, index, slot.start));
    // One missing answer may be chance: the copy has until then to return.
    if (slot.state === 'live' && !isLive) slot.retryAt = Date.now() + RETRY_MS;
    slot.state = isLive ? 'live' : 'down';
  }

  /** A copy that is down costs nothing to restart; of the live ones only as many are taken as may be down together. */
  private nextBatch(name: string, unit: UnitState): Change[] {
    const active = unfinished(this.state, name).filter((id) => this.isActive(name, id));
    const wanted = active.flatMap((id) => {
      const version = this.state.updates[id]?.units[name]?.version ?? unit.version;
      return pendingSlots(this.state, name, id).map((index) => ({ index, update: { id, version } }));
    });
    const changes = wanted.flatMap((change) => withSlot(unit, change));
    const supervised = unit.slots.flatMap((slot, index) => {
      const isDue = slot.state === 'down' && slot.retryAt <= Date.now();
      return isDue && !wanted.some((change) => change.index === index) ? [{ slot, index }] : [];
    });
    const { atOnce } = this.file;
    const room = atOnce - unit.slots.filter(({ state }) => state !== 'live').length;
    const down = changes.filter(({ slot }) => slot.state === 'down');
    const live = changes.filter(({ slot }) => slot.state === 'live').slice(0, Math.max(0, room));
    return [...[...down, ...live].slice(0, atOnce), ...supervised];
  }

  /** A process that runs, or ran, for this unit and is not in its slots. */
  private strangers(name: string, unit: UnitState): string[] {
    const current = unit.slots.map(({ start }, index) => startName(name, index, start));
    return this.copies.known().filter((task) => task.startsWith(`${name}/`) && !current.includes(task));
  }

  private async start(name: string, { slot, index, update }: Change): Promise<void> {
    const trouble = await this.copies.bringUp({ task: startName(name, index, slot.start), version: slot.version });
    slot.state = trouble === undefined ? 'live' : 'down';
    slot.failures = trouble === undefined ? 0 : slot.failures + 1;
    slot.retryAt = Date.now() + Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** slot.failures);
    const concerned = update && this.state.updates[update.id]?.units[name];
    if (trouble === undefined || !concerned || !this.isUnfinished(name, update.id)) return;
    concerned.state = 'failed';
    concerned.reason = trouble;
  }

  private finish(name: string): void {
    for (const id of unfinished(this.state, name)) {
      const update = this.state.updates[id]?.units[name];
      if (update?.state === 'active' && pendingSlots(this.state, name, id).length === 0) update.state = 'done';
    }
  }

  private isActive(name: string, id: string): boolean {
    return this.state.updates[id]?.units[name]?.state === 'active';
  }

  private isUnfinished(name: string, id: string): boolean {
    return unfinished(this.state, name).includes(id);
  }
}

interface Change {
  readonly slot: Slot;
  readonly index: number;
  /** The update that causes it; a copy that is down by itself is restarted without one. */
  readonly update?: { readonly id: string; readonly version: string };
}

const withSlot = (unit: UnitState, change: Omit<Change, 'slot'>): Change[] => {
  const slot = unit.slots[change.index];
  return slot ? [{ ...change, slot }] : [];
};

const isUpdating = ({ state }: Slot): boolean => state === 'updating';

/** The next start of a slot, under an identifier that no start ever had, even if the unit was smaller for a while. */
function begin(unit: UnitState, { slot, index, update }: Change): void {
  const now = Date.now();
  if (slot.start > 0)
    slot.past = [
      { start: slot.start, update: slot.update, from: slot.startedAt, to: now },
      ...slot.past.slice(0, PAST_STARTS - 1),
    ];
  slot.start = unit.starts[index] = (unit.starts[index] ?? 0) + 1;
  slot.startedAt = now;
  slot.state = 'updating';
  if (update) [slot.update, slot.version] = [update.id, update.version];
}
