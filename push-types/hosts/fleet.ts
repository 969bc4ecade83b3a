import { concurrencyGate } from '../../sdk';
import {
  beginChange,
  beginStops,
  countRoom,
  endChange,
  endStops,
  finishUpdates,
  isRemoval,
  listOutOfService,
  nextChanges,
  pendingSlots,
  unfinished,
  unitOf,
  type Change,
  type Memory,
  type Pace,
  type Slot,
} from '../../sdk/updates';
import { explainError } from '../explainError';
import type { Balancer } from './balancer';
import { deployHost, lookAtHost, removeFromHost, stampHost, type HostWorld } from './hostDeploy';
import { isServing, isSettled } from './hostPlan';
import type { HostFacts } from './hostScript';
import { UnreachableHostError } from './port';
import {
  applyLook,
  countSequence,
  createStamp,
  listPlaces,
  nameHostTask,
  noteTask,
  restoreUnit,
  syncHosts,
  type HostsState,
  type HostLook,
} from './slots';
import { isShifted, levelHosts, weighHosts } from './traffic';

export interface FleetOptions {
  readonly memory: Memory;
  readonly balancer: Balancer | null;
  readonly atOnce: number;
  /** The most hosts of a unit that may be out of service, of so many. */
  readonly countMostOut: (size: number) => number;
  /** A round waits so long for the answers of hosts; a later answer counts in a later round. */
  readonly patienceMs: number;
  /** ms since the epoch. */
  readonly now: () => number;
  /** ms of a clock that nobody sets, for durations. */
  readonly elapsed: () => number;
  readonly log: (line: string) => void;
  /** Called after each look with the automatic restarts of the service; undefined if the host did not answer. */
  readonly onLook?: (host: string, restarts: number | undefined) => void;
  /** Called before a host changes. */
  readonly onBegin?: (host: string) => void;
}

const LOOKS_AT_ONCE = 64;
/** A host that does not answer is asked again after this, and after up to eight times as long. */
const FIRST_SILENCE_MS = 2_000;
const MOST_SILENT_MS = 30_000;

interface Watched {
  /** Another one once the line of the host in the inventory has changed. */
  world: HostWorld;
  look?: HostLook;
  isAsked: boolean;
  silences: number;
  askAfter: number;
  isBusy: boolean;
}

/**
 * The hosts, and the updates that change them. Calls only record the desired state; `step` brings it about, and looks at the hosts each time. After a
 * crash, the next step continues from the state that it finds on the hosts.
 */
export class HostFleet {
  private readonly hosts = new Map<string, Watched>();
  private readonly units = new Map<string, readonly string[]>();
  private readonly looking = concurrencyGate(LOOKS_AT_ONCE);
  /** The hosts of each unit that are out of service at the load balancer. */
  private readonly out = new Map<string, ReadonlySet<string>>();

  constructor(private readonly options: FleetOptions) {}

  get memory(): Memory {
    return this.options.memory;
  }

  get state(): HostsState {
    return this.options.memory.state;
  }

  /** The units of the inventory, and those that were in it before. */
  get unitNames(): string[] {
    return [...new Set([...this.units.keys(), ...Object.keys(this.state.units)])];
  }

  /** Whether a unit is listed, and its state is known. */
  isReady(unit: string): boolean {
    return this.units.has(unit) && this.state.units[unit] !== undefined;
  }

  /** Whether the inventory has a unit, also while none of its hosts has answered yet. */
  isListed(unit: string): boolean {
    return this.units.has(unit);
  }

  /** The last look at each host of a unit, by slot. */
  lastLook(host: string): HostLook | undefined {
    return this.hosts.get(host)?.look;
  }

  /** Takes over an inventory. A host whose connection has changed gets a new one; hosts that have left are closed. */
  setHosts(units: ReadonlyMap<string, readonly HostWorld[]>): void {
    const names = new Set([...units.values()].flatMap((hosts) => hosts.map(({ name }) => name)));
    for (const [name, { world }] of this.hosts)
      if (!names.has(name)) {
        world.port.close();
        this.hosts.delete(name);
      }
    this.units.clear();
    for (const [unit, hosts] of units) {
      this.units.set(
        unit,
        hosts.map(({ name }) => name),
      );
      for (const world of hosts) {
        const before = this.hosts.get(world.name);
        if (before === undefined)
          this.hosts.set(world.name, { world, isAsked: false, silences: 0, askAfter: 0, isBusy: false });
        else if (before.world !== world) moveHost(before, world);
      }
    }
  }

  /** Asks all hosts of a unit, and waits for a while: a host that hangs holds up no other. */
  async look(unit: string): Promise<void> {
    const due = (this.units.get(unit) ?? [])
      .flatMap((name) => this.hosts.get(name) ?? [])
      .filter((host) => this.isDue(host));
    const extent = this.state.units[unit] === undefined ? 'whole' : 'brief';
    const asked = Promise.all(due.map((host) => this.ask(host, extent)));
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.options.patienceMs)));
    await Promise.race([asked, patience]);
    clearTimeout(timer);
    this.adopt(unit);
  }

  /**
   * One round for one unit: changes as many hosts as may be out together, and waits until they are up. Returns true while something is left to do. Never
   * call it twice at once for the same unit.
   */
  async step(name: string): Promise<boolean> {
    await this.look(name);
    if (this.state.units[name] === undefined) return true;
    const places = listPlaces(this.state, name);
    const out = await this.listOut(name);
    this.out.set(name, out ?? new Set(places));
    for (const host of this.state.drained ?? [])
      if (out && places.includes(host) && !out.has(host)) this.noteDrained(host, false);
    await this.remove(name);
    const changes = this.chooseChanges(name);
    for (const change of changes) this.begin(name, change);
    this.memory.save();
    await Promise.all(changes.map((change) => this.bringUp(name, change)));
    finishUpdates(this.state, name);
    await this.putBack(name);
    await this.restamp(name);
    await this.weigh(name).catch((error: unknown) =>
      this.options.log(`${name}: the weights are not set: ${explainError(error)}`),
    );
    this.memory.save();
    const { slots } = unitOf(this.state, name);
    const active = unfinished(this.state, name).filter((id) => this.state.updates[id]?.units[name]?.state === 'active');
    return active.length > 0 || slots.some(({ state }) => state === 'updating');
  }

  /** Sets the share of the requests of a unit that its versions get. @throws Error if the load balancer does not obey */
  async weigh(name: string): Promise<void> {
    const traffic = this.state.traffic?.[name];
    const { balancer } = this.options;
    if (traffic === undefined || !balancer?.setWeights) return;
    const { slots } = unitOf(this.state, name);
    const places = listPlaces(this.state, name);
    const listed = new Set(this.units.get(name));
    const weights = traffic.isOver ? levelHosts(places) : weighHosts(slots, places, traffic);
    await balancer.setWeights(new Map([...weights].filter(([host]) => listed.has(host))));
    if (traffic.isOver || isShifted(slots, traffic)) delete this.state.traffic?.[name];
  }

  private isDue({ isAsked, isBusy, askAfter }: Watched): boolean {
    return !isAsked && !isBusy && askAfter <= this.options.elapsed();
  }

  private async ask(host: Watched, extent: 'brief' | 'whole'): Promise<void> {
    const { world } = host;
    host.isAsked = true;
    try {
      const facts = await this.looking(() => lookAtHost(world, extent));
      if (host.world !== world) return;
      [host.look, host.silences] = [{ facts }, 0];
      this.options.onLook?.(host.world.name, facts.restarts);
    } catch (error) {
      if (host.world !== world) return;
      host.silences += 1;
      host.look = { unreachable: explainError(error) };
      this.options.onLook?.(host.world.name, undefined);
      host.askAfter = this.options.elapsed() + Math.min(MOST_SILENT_MS, FIRST_SILENCE_MS * 2 ** (host.silences - 1));
    } finally {
      host.isAsked = false;
    }
  }

  /** Brings the memory up to date with the inventory and the last looks. A unit that it does not know is restored from its hosts, once one of them has answered. */
  private adopt(name: string): void {
    const { now } = this.options;
    const hosts = this.units.get(name) ?? [];
    if (this.state.units[name] === undefined) {
      const looks = new Map(
        hosts.flatMap((host) => (this.lastLook(host) ? [[host, this.lastLook(host) as HostLook]] : [])),
      );
      if (looks.size < hosts.length || ![...looks.values()].some((look) => 'facts' in look)) return;
      syncHosts(this.state, name, hosts);
      restoreUnit(this.state, name, looks);
      this.options.log(
        `${name}: its state is read from ${hosts.length} hosts; hosts that are out of the load balancer stay out`,
      );
    } else syncHosts(this.state, name, hosts);
    const unit = unitOf(this.state, name);
    for (const [index, host] of listPlaces(this.state, name).entries()) {
      const look = this.lastLook(host);
      if (look !== undefined && !this.hosts.get(host)?.isBusy) applyLook(unit, index, host, look, now());
    }
    this.memory.save();
  }

  /** Undefined if the balancer does not answer: then no host may be taken out. */
  private async listOut(name: string): Promise<ReadonlySet<string> | undefined> {
    const { balancer, log } = this.options;
    if (balancer === null) return new Set();
    // The balancer may not know hosts that have left the inventory.
    return balancer.listOut(this.units.get(name) ?? []).catch((error: unknown) => {
      log(`${name}: the load balancer does not answer, so no host is taken out: ${explainError(error)}`);
      return undefined;
    });
  }

  private isOut(unit: string, host: string): boolean {
    return this.out.get(unit)?.has(host) ?? false;
  }

  private pace(name: string): Pace {
    const { slots } = unitOf(this.state, name);
    const { atOnce, countMostOut, now } = this.options;
    const mostOut = Math.max(atOnce, countMostOut(slots.filter(({ gone }) => !gone).length));
    const places = listPlaces(this.state, name);
    return {
      ...{ atOnce, mostOut, now: now() },
      isOut: (index) => this.isOut(name, places[index] ?? ''),
      isServing: (index) => {
        const facts = this.readFacts(places[index] ?? '');
        return facts !== undefined && isServing(facts, facts.current);
      },
    };
  }

  private readFacts(host: string): HostFacts | undefined {
    const look = this.lastLook(host);
    return look && 'facts' in look ? look.facts : undefined;
  }

  /** Changes of updates, and of hosts that have another version than their slot. A service that systemd is to restart is left to systemd. */
  private chooseChanges(name: string): readonly Change[] {
    const pace = this.pace(name);
    const places = listPlaces(this.state, name);
    const changes = nextChanges(this.state, name, pace).filter(
      ({ slot, index, update }) => update !== undefined || this.isUnsettled(places[index] ?? '', slot),
    );
    this.explainWait(name, changes, pace);
    // A service may work although its health URL does not say so, such as that of a version before the first deploy.
    let running = 0;
    return changes.filter(({ index, update }) => {
      const host = this.hosts.get(places[index] ?? '');
      const facts = this.readFacts(places[index] ?? '');
      if (host === undefined || host.isBusy || facts === undefined) return false;
      if (update === undefined && facts.isActive) running += 1;
      return update !== undefined || !facts.isActive || running <= pace.atOnce;
    });
  }

  private isUnsettled(host: string, slot: Slot): boolean {
    const facts = this.readFacts(host);
    return facts !== undefined && !isSettled(facts, { version: slot.version, updateId: slot.update });
  }

  /** An update that cannot begin the next host says for what it waits. */
  private explainWait(name: string, changes: readonly Change[], pace: Pace): void {
    const { slots } = unitOf(this.state, name);
    const places = listPlaces(this.state, name);
    const out = listOutOfService(slots, pace).map((index) => places[index] ?? '');
    const waits = changes.length === 0 && countRoom(slots, pace) === 0;
    for (const id of unfinished(this.state, name)) {
      const update = this.state.updates[id]?.units[name];
      if (update?.state !== 'active' || isRemoval(this.state, id)) continue;
      if (waits && pendingSlots(this.state, name, id).length > 0)
        update.reason = `waits: ${out.slice(0, 5).join(', ')}${out.length > 5 ? ', …' : ''} ${out.length === 1 ? 'is' : 'are'} out of service, and at most ${pace.mostOut} may be`;
      else delete update.reason;
    }
  }

  private begin(name: string, change: Change): void {
    beginChange(unitOf(this.state, name), change, this.options.now());
    delete change.slot.task;
    const host = this.hosts.get(listPlaces(this.state, name)[change.index] ?? '');
    if (host) host.isBusy = true;
    if (host) this.options.onBegin?.(host.world.name);
    if (host && this.options.balancer && !this.isOut(name, host.world.name)) this.noteDrained(host.world.name, true);
  }

  private noteDrained(host: string, isDrained: boolean): void {
    const others = (this.state.drained ?? []).filter((one) => one !== host);
    this.state.drained = isDrained ? [...others, host] : others;
  }

  /** Brings one host up. A host that cannot be reached in the middle fails no update: it is asked again, and continues where it was. */
  private async bringUp(name: string, change: Change): Promise<void> {
    const { slot, index } = change;
    const { state, memory } = this;
    const { now } = this.options;
    const host = this.hosts.get(listPlaces(state, name)[index] ?? '');
    if (host === undefined) return;
    countSequence(state, now());
    memory.save();
    try {
      // A host that another has drained stays drained.
      const isOthers = this.isOut(name, host.world.name) && !(state.drained ?? []).includes(host.world.name);
      const world = isOthers ? { ...host.world, balancer: null } : host.world;
      const desired = { version: slot.version, updateId: slot.update };
      const facts = await deployHost(world, desired, createStamp(state, name, index));
      if (!isOthers) this.noteDrained(host.world.name, false);
      if (host.world.port === world.port) host.look = { facts };
      noteTask(unitOf(state, name), index, nameHostTask(host.world.name, facts.invocation), now());
      endChange(state, name, change, undefined, now());
    } catch (error) {
      this.failChange(name, change, host, error);
    } finally {
      host.isBusy = false;
      host.askAfter = 0;
    }
  }

  private failChange(name: string, change: Change, host: Watched, error: unknown): void {
    const { slot } = change;
    const reason = `${slot.version} did not come up on ${host.world.name}: ${explainError(error)}`;
    this.options.log(`${name}: ${reason}`);
    if (error instanceof UnreachableHostError) {
      host.look = { unreachable: explainError(error) };
      Object.assign(slot, { state: 'down', isUnreachable: true } satisfies Partial<Slot>);
    } else endChange(this.state, name, change, reason, this.options.now());
  }

  /** Stops the services of a removed unit, all at once; a host that cannot be reached is stopped when it answers. */
  private async remove(name: string): Promise<void> {
    for (const id of unfinished(this.state, name).filter((one) => isRemoval(this.state, one))) {
      const indexes = beginStops(this.state, name, id);
      const sequence = countSequence(this.state, this.options.now());
      this.memory.save();
      await Promise.all(indexes.map((index) => this.stopHost(name, index, sequence)));
      endStops(this.state, name, id);
    }
  }

  private async stopHost(name: string, index: number, sequence: number): Promise<void> {
    const host = this.hosts.get(listPlaces(this.state, name)[index] ?? '');
    const slot = unitOf(this.state, name).slots[index];
    if (host === undefined || slot === undefined) return;
    try {
      await removeFromHost(host.world, sequence);
      this.noteDrained(host.world.name, true);
      delete host.look;
    } catch (error) {
      this.options.log(`${name}: ${host.world.name} is not stopped: ${explainError(error)}`);
      Object.assign(slot, {
        state: 'down',
        ...(error instanceof UnreachableHostError && { isUnreachable: true }),
      } satisfies Partial<Slot>);
    }
  }

  /** Puts hosts back that serve again after all. */
  private async putBack(name: string): Promise<void> {
    const { balancer, log } = this.options;
    const { slots } = unitOf(this.state, name);
    const places = listPlaces(this.state, name);
    for (const host of this.state.drained ?? []) {
      const slot = slots[places.indexOf(host)];
      if (!this.hosts.has(host)) this.noteDrained(host, false);
      if (balancer === null || slot?.state !== 'live') continue;
      await balancer.undrain(host, 0).then(
        () => this.noteDrained(host, false),
        (error: unknown) => log(`${name}: ${host} is still out of the load balancer: ${explainError(error)}`),
      );
    }
  }

  /** The records on the hosts follow the memory: a whole-unit update may change the version of a unit without touching a host. */
  private async restamp(name: string): Promise<void> {
    const { slots } = unitOf(this.state, name);
    const stale = slots.flatMap((slot, index) => {
      const host = this.hosts.get(listPlaces(this.state, name)[index] ?? '');
      const look = host?.look;
      if (!host || !look || 'unreachable' in look || slot.state !== 'live' || host.isBusy) return [];
      return isStaleRecord(look.facts, createStamp(this.state, name, index)) ? [{ host, index }] : [];
    });
    if (stale.length > 0) countSequence(this.state, this.options.now());
    await Promise.all(
      stale.map(async ({ host, index }) => {
        const stamp = createStamp(this.state, name, index);
        await stampHost(host.world, stamp).then(
          () => {
            if (host.look && 'facts' in host.look) host.look = { facts: { ...host.look.facts, stamp } };
          },
          (error: unknown) =>
            this.options.log(`${name}: the record of ${host.world.name} is not written: ${explainError(error)}`),
        );
      }),
    );
  }
}

/** The host is reached in another way from now on. A change that is under way ends by the old one, or fails and is repeated. */
function moveHost(host: Watched, world: HostWorld): void {
  host.world.port.close();
  Object.assign(host, { world, silences: 0, askAfter: 0 } satisfies Partial<Watched>);
  // The answers so far may be those of another machine.
  delete host.look;
}

/** Whether the record on a host differs from the memory in anything that would be restored. */
const isStaleRecord = (
  { stamp }: HostFacts,
  { updateId, version, unit, unitVersion, unitUpdate }: ReturnType<typeof createStamp>,
): boolean =>
  stamp === null ||
  stamp.updateId !== updateId ||
  stamp.version !== version ||
  stamp.unit !== unit ||
  stamp.unitVersion !== unitVersion ||
  stamp.unitUpdate !== unitUpdate;
