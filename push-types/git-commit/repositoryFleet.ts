import { concurrencyGate } from '../../sdk';
import { finishUpdates, unfinished, unitOf, type Memory } from '../../sdk/updates';
import { AwayError, RefusedError, type DeployBranch } from './branch';
import {
  adoptValues,
  defineUnitState,
  findClusterPath,
  getDefinition,
  landSlot,
  listClusters,
  rememberValue,
  type CommitState,
} from './commitState';
import { noteReason } from './fieldSteps';
import { giveUpChanges, landChanges, type LandingWorld, type LandingStep } from './landing';
import { mentionsCluster, readTrailers } from './message';
import { FieldReader, pickReadValues, type FieldReading, type Readings } from './readings';
import { isSamePlace, type UnitDefinition } from './units';
import { ClusterWatch, type WatchPlace } from './watching';

export interface RepositoryFleetOptions extends Pick<WatchPlace, 'watcher' | 'wait' | 'idleMs' | 'onLook'> {
  /** The name of the repository in the settings. */
  readonly name: string;
  readonly memory: Memory;
  readonly branch: DeployBranch;
  readonly countAtOnce: (unit: string) => number;
  readonly now: () => number;
  readonly log: (line: string) => void;
  readonly onStep?: (step: LandingStep) => void;
}

/** How old a copy may be for an answer to Conveyor. */
const FRESH_MS = 2_000;
const FIRST_ANSWER_MS = 3_000;

/**
 * The units in one repository, and the updates that change them. Calls only record the desired state; `step` brings it about. One step at a time works on a repository;
 * after a crash, the next one continues from what it finds in Git.
 */
export class RepositoryFleet {
  private readonly turn = concurrencyGate(1);
  private readonly reader: FieldReader;
  private readonly watch: ClusterWatch;
  private readonly place: LandingWorld;
  private tip: string | undefined;
  private refreshedAt = -Infinity;
  private steppedAt = -Infinity;
  private trouble: AwayError | RefusedError | undefined;
  private last: Readings = new Map();

  constructor(private readonly options: RepositoryFleetOptions) {
    const { branch } = options;
    this.reader = new FieldReader(branch);
    const { state } = this;
    this.place = { ...options, state, reader: this.reader };
    this.watch = new ClusterWatch({ ...options, state, reader: this.reader });
  }

  private get state(): CommitState {
    return this.options.memory.state;
  }

  /** The units in this repository that were learnt. */
  get units(): string[] {
    return Object.entries(this.state.definitions ?? {})
      .filter(([, { repository }]) => repository === this.options.name)
      .map(([unit]) => unit);
  }

  /** The fields of a unit at the last look. */
  readings(unit: string): ReadonlyMap<number, FieldReading> {
    return this.last.get(unit) ?? new Map<number, FieldReading>();
  }

  /** Why the repository cannot be used now. */
  get problem(): AwayError | RefusedError | undefined {
    return this.trouble;
  }

  /** Reads the branch anew unless that was just done, and learns units that are new or have changed. @returns the problems of their fields, by unit */
  learn(definitions: ReadonlyMap<string, UnitDefinition>): Promise<ReadonlyMap<string, readonly string[]>> {
    return this.turn(async () => {
      await this.refresh(FRESH_MS);
      const tip = this.tip;
      if (tip === undefined) return new Map();
      const problems = new Map<string, readonly string[]>();
      const learnt: string[] = [];
      for (const [unit, definition] of definitions) {
        const found = await this.readDefinition(definition, tip);
        const troubles = [...found.values()].flatMap((one) => ('trouble' in one ? [one.trouble] : []));
        problems.set(unit, troubles);
        if (troubles.length > 0 || !this.isNews(unit, definition)) continue;
        const isNew = this.state.units[unit] === undefined;
        const values = new Map(
          [...found].flatMap(([cluster, one]) => ('value' in one ? [[cluster, one.value] as const] : [])),
        );
        defineUnitState(this.state, unit, definition, values);
        if (isNew) await this.restore(unit, tip);
        learnt.push(unit);
      }
      if (learnt.length === 0) return problems;
      await this.read(tip);
      await waitFor(this.watch.look(learnt, tip, this.last), FIRST_ANSWER_MS);
      this.options.memory.save();
      return problems;
    });
  }

  /** One round. Returns true while something is left to do. */
  step(): Promise<boolean> {
    return this.turn(async () => {
      const { now, idleMs, memory } = this.options;
      if (!this.isOpen() && now() - this.steppedAt < idleMs) return false;
      this.steppedAt = now();
      if (this.units.length === 0) return false;
      await this.refresh(0);
      if (this.tip === undefined) return this.isOpen();
      const before = this.tip;
      await this.read(before);
      for (const unit of this.units) adoptValues(this.state, unit, '', pickReadValues(this.last.get(unit)));
      if (this.trouble === undefined) await this.land(before);
      if (this.tip !== before) await this.read(this.tip);
      await this.watch.look(this.units, this.tip, this.last);
      for (const unit of this.units) finishUpdates(this.state, unit);
      memory.save();
      return this.isOpen();
    });
  }

  private isOpen(): boolean {
    return this.units.some(
      (unit) =>
        unfinished(this.state, unit).some((id) => this.state.updates[id]?.units[unit]?.state === 'active') ||
        unitOf(this.state, unit).slots.some(({ state }) => state === 'updating'),
    );
  }

  /** Fetches the branch if the copy is older. A failure is a reason of all updates that wait. */
  private async refresh(maxAgeMs: number): Promise<void> {
    const { branch, now, log, name } = this.options;
    if (this.trouble === undefined && now() - this.refreshedAt < maxAgeMs) return;
    try {
      const tip = await branch.refresh();
      if (this.tip !== undefined && this.tip !== tip && (await branch.relate(tip, this.tip)) !== 'holds')
        log(`${name}: the branch was rewritten: ${tip} does not follow ${this.tip}`);
      this.tip = tip;
      this.refreshedAt = now();
      this.trouble = undefined;
    } catch (error) {
      if (!(error instanceof AwayError) && !(error instanceof RefusedError)) throw error;
      this.trouble = error;
      log(`${name}: ${error.message}`);
      this.noteTrouble(error);
    }
  }

  private noteTrouble(error: AwayError | RefusedError): void {
    if (error instanceof RefusedError) {
      giveUpChanges(this.place, this.units, error.message);
      return;
    }
    for (const unit of this.units)
      for (const id of unfinished(this.state, unit)) noteReason(this.state, unit, id, error.message);
  }

  private async land(tip: string): Promise<void> {
    try {
      this.tip = await landChanges(this.place, this.units, tip);
    } catch (error) {
      if (!(error instanceof AwayError) && !(error instanceof RefusedError)) throw error;
      this.noteTrouble(error);
      this.options.log(`${this.options.name}: ${error.message}`);
    }
  }

  private async read(tip: string): Promise<void> {
    this.last = await this.reader.readUnits(tip, this.state, this.units);
  }

  private async readDefinition(definition: UnitDefinition, tip: string): Promise<ReadonlyMap<string, FieldReading>> {
    const entries = Object.entries(definition.paths);
    const places = entries.map(([, path]) => ({ path, field: definition.field }));
    const readings = await this.reader.readAll(tip, places);
    return new Map(
      entries.map(([cluster], nth) => [cluster, readings[nth] ?? { trouble: `${cluster} cannot be read` }]),
    );
  }

  /** Whether a definition is new. While an update changes a unit, its fields stay the same. */
  private isNews(unit: string, definition: UnitDefinition): boolean {
    const before = this.state.definitions?.[unit];
    if (before === undefined) return true;
    if (JSON.stringify(before) === JSON.stringify(definition)) return false;
    return isSamePlace(before, definition) || unfinished(this.state, unit).length === 0;
  }

  /** The memory is new: commits with our trailers say which update changed a field last. */
  private async restore(unit: string, tip: string): Promise<void> {
    const { branch, now } = this.options;
    const { state } = this;
    const restored = new Set<string>();
    for (const [index, cluster] of listClusters(state, unit).entries()) {
      const path = findClusterPath(state, unit, index);
      const slot = unitOf(state, unit).slots[index];
      if (path === undefined || slot === undefined) continue;
      const commits = await branch.listChanges(tip, path);
      const own = commits.find(({ message }) => mentionsCluster(message, unit, cluster));
      const trailers = own && readTrailers(own.message);
      const value = state.held?.[unit]?.[index] ?? '';
      const then = own && (await this.reader.readOne(own.id, path, getDefinition(state, unit).field));
      if (!own || !trailers || !then || !('value' in then) || then.value !== value) continue;
      Object.assign(slot, { version: trailers.version, update: trailers.updateId });
      rememberValue(state, unit, trailers.version, value);
      landSlot(state, unit, index, value, { update: trailers.updateId, commit: own.id, at: now() });
      restored.add(trailers.updateId);
    }
    for (const updateId of restored) this.restoreUpdate(unit, updateId);
    const versions = new Set(unitOf(state, unit).slots.map(({ version }) => version));
    if (versions.size === 1) unitOf(state, unit).version = [...versions][0] ?? '';
  }

  /** An update that is not in all clusters counts as ended: whether more of them were meant is not in Git. */
  private restoreUpdate(unit: string, updateId: string): void {
    const { slots } = unitOf(this.state, unit);
    const own = slots.flatMap((slot, index) => (slot.update === updateId ? [index] : []));
    const version = slots[own[0] ?? 0]?.version ?? '';
    const update = (this.state.updates[updateId] ??= { updatedBy: [], exclude: [], units: {} });
    const reason = `the push type lost its memory while it brought ${version} to ${unit}: ${own.length} of ${slots.length} clusters have it in Git`;
    update.units[unit] ??= {
      version,
      slots: own,
      ...(own.length === slots.length ? { state: 'done' } : { state: 'ended', reason }),
    };
  }
}

/** Waits for a while, and lets the work continue after it. */
async function waitFor(work: Promise<void>, mostMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, mostMs)));
  await Promise.race([work, patience]);
  clearTimeout(timer);
}
