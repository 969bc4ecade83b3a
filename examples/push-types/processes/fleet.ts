import { join } from 'node:path';
import { z } from 'zod';
import {
  beginChange,
  beginStops,
  endChange,
  endStops,
  finishUpdates,
  isRemoval,
  Memory,
  newSlot,
  nextChanges,
  startName,
  unfinished,
  unitOf,
  type Change,
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

  /** Added copies start on the version of their unit with the next step, which also stops those beyond the size. A removed unit comes back with that size. */
  resize(name: string, size: number): void {
    const unit = (this.state.units[name] ??= { version: this.file.firstVersion, update: null, starts: [], slots: [] });
    if (unit.removed) unit.removed.size = size;
    else unit.slots.splice(size);
    while (!unit.removed && unit.slots.length < size) {
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
    await this.remove(name, unit);
    const batch = nextChanges(this.state, name, { atOnce: this.file.atOnce, now: Date.now() });
    for (const change of batch) beginChange(unit, change, Date.now());
    // From here on, after a crash, the next step finds the new identifiers in the memory and stops copies with any other.
    this.publish();
    await Promise.all(this.strangers(name, unit).map((task) => this.copies.stop(task)));
    await Promise.all(batch.map((change) => this.start(name, change)));
    finishUpdates(this.state, name);
    this.publish();
    return unfinished(this.state, name).some((id) => this.isActive(name, id)) || unit.slots.some(isUpdating);
  }

  /** Stops the copies of a removed unit, all at once, and then forgets them; after a crash, the next step stops them again. */
  private async remove(name: string, { slots }: UnitState): Promise<void> {
    for (const id of unfinished(this.state, name).filter((one) => isRemoval(this.state, one))) {
      const tasks = beginStops(this.state, name, id).map((index) => startName(name, index, slots[index]?.start ?? 0));
      this.publish();
      await Promise.all(tasks.map((task) => this.copies.stop(task)));
      endStops(this.state, name, id);
    }
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

  /** A process that runs, or ran, for this unit and is not in its slots. */
  private strangers(name: string, unit: UnitState): string[] {
    const current = unit.slots.map(({ start }, index) => startName(name, index, start));
    return this.copies.known().filter((task) => task.startsWith(`${name}/`) && !current.includes(task));
  }

  private async start(name: string, change: Change): Promise<void> {
    const { slot, index } = change;
    const trouble = await this.copies.bringUp({ task: startName(name, index, slot.start), version: slot.version });
    endChange(this.state, name, change, trouble, Date.now());
  }

  private isActive(name: string, id: string): boolean {
    return this.state.updates[id]?.units[name]?.state === 'active';
  }
}

const isUpdating = ({ state }: Slot): boolean => state === 'updating';
