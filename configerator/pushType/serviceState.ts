import type { Updatable } from '../../sdk/updates/updates';
import type { Target } from '../../sdk/protocol/pushType';
import { deployOf, unfinished, unitOf } from '../../sdk/updates/choose';
import type { UnitState, UnitUpdate } from '../../sdk/updates/memory';
import type { ConfigMemory, ConfigState, Service } from './memory';
import { isRemovalVersion } from './removalVersion';
import { ensureSeats, type Subscriber, type Subscribers } from './subscribers';

/** The present state of one service: its memory, and its known subscribers. */
export class ConfigServiceState {
  /** The subscribers at the last look. */
  subscribers: Subscribers = new Map();

  constructor(
    readonly name: string,
    private readonly memory: ConfigMemory,
  ) {}

  get state(): ConfigState {
    return this.memory.state;
  }

  get service(): Service {
    const service = this.state.services[this.name];
    if (!service) throw new Error(`nothing is known of ${this.name}`);
    return service;
  }

  get units(): string[] {
    return Object.keys(this.service.hosts);
  }

  unit(id: string): UnitState {
    return unitOf(this.state, id);
  }

  /** Whether it is a unit; a forgotten one counts again if it is requested. */
  knows(id: string): boolean {
    if (this.service.former?.includes(id) && !this.units.includes(id)) ensureSeats(this.service, this.state, id);
    return this.units.includes(id);
  }

  hostOf(unit: string, index: number): string {
    return this.service.hosts[unit]?.[index] ?? '';
  }

  subscriberOf(unit: string, index: number): Subscriber | undefined {
    return this.subscribers.get(this.hostOf(unit, index));
  }

  activeIn(unit: string): string[] {
    return unfinished(this.state, unit).filter((id) => this.state.updates[id]?.units[unit]?.state === 'active');
  }

  /** The uncommitted version for all units, which has to land; `isAhead`: it undoes something, so it goes first. */
  get bound(): { readonly version: string; readonly isAhead: boolean; readonly isHeld: boolean } | undefined {
    const [first, ...others] = this.units.map((id) => this.unit(id));
    const isOne = first !== undefined && others.every(({ version }) => version === first.version);
    if (!isOne || first.version === this.service.committed) return undefined;
    const deciding = this.state.updates[first.update ?? ''];
    return {
      version: first.version,
      isAhead: (deciding?.updatedBy.length ?? 0) > 0,
      isHeld: this.units.some((id) => isHeldIn(deciding?.units[id])),
    };
  }

  /** Whether another version may still land, because its landing was requested and is not known to have failed. */
  mayLandOther(version: string): boolean {
    const { landing } = this.service;
    return landing !== undefined && landing.refused === undefined && landing.version !== version;
  }

  get isMoving(): boolean {
    const { landing, exposed } = this.service;
    const isActive = this.units.some((unit) => this.activeIn(unit).length > 0);
    return isActive || landing !== undefined || Object.keys(exposed).length > 0;
  }

  /** Whether nothing of it is under way, exposed, or still needed. */
  get isForgettable(): boolean {
    const units = new Set(this.units);
    const isTouched = Object.values(this.state.updates).some((update) =>
      Object.keys(update.units).some((unit) => units.has(unit)),
    );
    return !isTouched && !this.isMoving;
  }

  /** Fails the named updates of a unit, by default all running ones. */
  fail(unit: string, reason: string, ids: readonly string[] = unfinished(this.state, unit)): void {
    for (const id of ids) {
      const update = this.state.updates[id]?.units[unit];
      if (update) Object.assign(update, { state: 'failed', reason } satisfies Partial<UnitUpdate>);
    }
  }

  /**
   * The version that a target means. The version before a deploy comes from git, not from a pipeline's memory of
   * abandoned deploys. If the version was once committed, or none of the updates has landed, it is the committed
   * version; if an update has landed, it is the version committed before. If others have committed during a deploy, a
   * revert returns to their version.
   */
  meant({ unit = '', version, updatedBy = [] }: Pick<Target, 'version' | 'updatedBy'> & { unit?: string }): string {
    const { replaced, interrupted, commits, committed, landed } = this.service;
    const brought = commits[version] === undefined ? [] : this.broughtBy(updatedBy);
    // A canary goes back to what its unit should be on now.
    if (brought.length > 0 && version !== this.state.units[unit]?.version) {
      if (brought.every((one) => one !== committed && commits[one] === undefined)) return committed;
      const isNewest = brought.includes(committed) && landed !== undefined && landed.commit === commits[committed];
      if (isNewest && landed.from !== undefined) return landed.from;
    }
    if (!updatedBy.some((id) => interrupted.includes(deployOf(id)))) return version;
    let found = version;
    for (let next = replaced[found]; next !== undefined; next = replaced[found]) found = next;
    return found;
  }

  /** The versions that these updates should bring, without updates that undo something. */
  private broughtBy(updates: readonly string[]): readonly string[] {
    const all = updates.flatMap((id) => this.state.updates[id] ?? []).filter(({ updatedBy }) => updatedBy.length === 0);
    return [...new Set(all.flatMap(({ units }) => Object.values(units).map(({ version }) => version)))];
  }

  /** The view of the service for updates. */
  updatable(): Updatable {
    const { committed, contents } = this.service;
    const hasVersion = (version: string): boolean => version === committed || contents[version] !== undefined;
    const isConcerned = (unit: string, index: number, version: string): boolean => {
      const content = contents[version] ?? {};
      return this.subscriberOf(unit, index)?.has.some(({ path }) => Object.hasOwn(content, path)) ?? false;
    };
    return { state: this.state, copies: { hasVersion, isConcerned } };
  }

  save(): void {
    this.memory.save();
  }
}

/** A version does not land while its update is paused; a deletion does not land once its removal was cancelled or has failed. */
const isHeldIn = (update: UnitUpdate | undefined): boolean =>
  update?.state === 'paused' ||
  (update !== undefined && isRemovalVersion(update.version) && ['ended', 'failed'].includes(update.state));
