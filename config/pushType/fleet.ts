import type { Artifact } from '../../domain/artifact';
import { placeOf } from '../../domain/config/overrides';
import type { Content } from '../../domain/config/subscriber';
import { ExtensionError } from '../../sdk/server';
import { deployOf, pendingSlots, unfinished, unitOf } from '../../sdk/updates/choose';
import type { Slot, UnitUpdate } from '../../sdk/updates/memory';
import type { Updatable } from '../../sdk/updates/updates';
import type { Override } from '../store/port';
import { wantedOverrides } from './exposing';
import { commitVersion, type Landings } from './landing';
import type { ConfigMemory, Service } from './memory';
import type { ConfigPorts } from './ports';
import { refusalOf, seat, subscribersOf, type Subscriber, type Subscribers } from './subscribers';

/** What the `config` of a deploy says. */
export interface ConfigPush {
  readonly repository: string;
  /** Those that the pipeline owns; one that ends with a slash means all below. */
  readonly paths: readonly string[];
}

/** So much of a unit gets a version at a time: a value that hosts refuse does not reach all of a phase. */
const BATCHES = 4;

/** A deploy that has lasted over more commits of others than this is not taken back to the newest of them. */
const REPLACED = 100;

/**
 * Services, each the paths of a repository that a pipeline owns, of which each subscriber is a task. Calls only write down what is wanted;
 * `step` exposes it, has it land, and sees who lives on it.
 */
export class ConfigFleet {
  /** By service, and by host: as they were when they were looked at last. */
  private readonly seen = new Map<string, Subscribers>();
  private readonly stepping = new Map<string, Promise<boolean>>();

  constructor(
    readonly memory: ConfigMemory,
    private readonly ports: ConfigPorts,
    private readonly landings: Landings,
  ) {}

  get services(): string[] {
    return Object.keys(this.memory.state.services);
  }

  /** Learns what the calls that follow need: who subscribes, what is committed, and what these versions say. */
  async prepare(
    config: ConfigPush,
    versions: readonly { readonly version: string; readonly artifacts: readonly Artifact[] }[] = [],
  ): Promise<string> {
    const name = serviceName(config);
    await this.refresh(name, config);
    const service = this.serviceOf(name);
    for (const { version: asked, artifacts } of versions) {
      const version = this.present(name, asked);
      if (version === service.committed || service.contents[version] !== undefined) continue;
      const { change, content, landed } = await this.ports.changes.contentOf(config.repository, version, artifacts);
      refuseForeign(config, version, content);
      await this.keepCommitted(name, content);
      service.contents[version] = content;
      service.changes[version] = change;
      if (landed !== null) service.commits[version] = landed;
    }
    this.forgetVersions(
      name,
      versions.map(({ version }) => version),
    );
    return name;
  }

  /** @throws ExtensionError `path-busy`, worth another try, while another pipeline exposes a change of the same path */
  async refuseBusyPaths(name: string, version: string, updateId: string): Promise<void> {
    const { repository, contents, exposed } = this.serviceOf(name);
    for (const path of Object.keys(contents[version] ?? {})) {
      const others = await this.ports.storeOf(repository).overrides(repository, path);
      const other = others.find(({ id }) => exposed[id] === undefined && deployOf(id) !== deployOf(updateId));
      if (other === undefined) continue;
      const text = `${path} is being changed by ${deployOf(other.id)}, which exposes ${other.revision}; it has to end first`;
      throw new ExtensionError('path-busy', text, { retryable: true, status: 409 });
    }
  }

  /** A deploy that lost its service without knowing, or in which somebody else has changed the paths, goes no further. @throws ExtensionError */
  refuseOutdated(name: string, updateId: string, fence: number | undefined): void {
    const service = this.serviceOf(name);
    if (fence !== undefined && fence < (service.fence ?? fence))
      throw refusal('fenced', `a deploy with fence ${service.fence} was here since`);
    if (service.interrupted.includes(deployOf(updateId)))
      throw refusal('changed-elsewhere', `somebody else has committed to the paths of ${name} during this deploy`);
    if (fence !== undefined) service.fence = fence;
  }

  /** The version that is meant by one that others have replaced by a commit. */
  present(name: string, version: string): string {
    const { replaced } = this.serviceOf(name);
    let found = version;
    for (let next = replaced[found]; next !== undefined; next = replaced[found]) found = next;
    return found;
  }

  /** As the updates see it. */
  updatable(name: string): Updatable {
    const service = this.serviceOf(name);
    const { state } = this.memory;
    const hasVersion = (version: string): boolean =>
      version === service.committed || service.contents[version] !== undefined;
    const isConcerned = (unit: string, index: number, version: string): boolean => {
      const content = service.contents[version] ?? {};
      const subscriber = this.subscriberOf(name, unit, index);
      return subscriber?.has.some(({ path }) => Object.hasOwn(content, path)) ?? false;
    };
    return { state, copies: { hasVersion, isConcerned } };
  }

  unitsOf(name: string): string[] {
    return Object.keys(this.serviceOf(name).hosts);
  }

  subscriberOf(name: string, unit: string, index: number): Subscriber | undefined {
    return this.seen.get(name)?.get(this.serviceOf(name).hosts[unit]?.[index] ?? '');
  }

  serviceOf(name: string): Service {
    const service = this.memory.state.services[name];
    if (!service) throw new Error(`nothing is known of ${name}`);
    return service;
  }

  /** Resolves once no step runs and nothing is on its way to the branch. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.stepping.values());
    await this.landings.idle();
  }

  /** One step at a time. True while something is left to do. */
  step(name: string): Promise<boolean> {
    const running = this.stepping.get(name);
    if (running) return running;
    const step = this.stepOnce(name).finally(() => this.stepping.delete(name));
    this.stepping.set(name, step);
    return step;
  }

  private async stepOnce(name: string): Promise<boolean> {
    const service = this.serviceOf(name);
    await this.refresh(name, service);
    for (const unit of this.unitsOf(name)) {
      this.begin(name, unit);
      this.failRefused(name, unit);
    }
    this.memory.save();
    await this.expose(name);
    await this.land(name);
    for (const unit of this.unitsOf(name)) this.finish(name, unit);
    this.memory.save();
    return service.landing !== undefined || this.unitsOf(name).some((unit) => this.activeIn(unit).length > 0);
  }

  /** Who subscribes now, and whether others have committed to the paths. */
  private async refresh(name: string, { repository, paths }: ConfigPush): Promise<void> {
    const store = this.ports.storeOf(repository);
    const { services } = this.memory.state;
    const [subscribers, head] = await Promise.all([subscribersOf(store, repository, paths), store.head(repository)]);
    services[name] ??= newService(repository, paths);
    const service = services[name];
    this.seen.set(name, subscribers);
    if (head !== undefined && head.commit !== service.head)
      await this.follow(name, head.commit).catch((error: unknown) => {
        // A revert has to run whatever the repository does.
        if (service.head === null) throw error;
        this.ports.log(`${name}: nobody knows what ${head.commit} has changed: ${String(error)}`);
      });
    seat(name, service, this.memory.state, subscribers);
  }

  /** The branch has gone on: by our landing, by commits to other paths, or by somebody else's to ours. */
  private async follow(name: string, head: string): Promise<void> {
    const service = this.serviceOf(name);
    const { repository, paths, landing } = service;
    if (landing?.commit !== undefined) return; // who lands looks at the branch itself
    const version = await this.ports.changes.committedVersion(repository, paths, head, service.head);
    const isOurs = landing?.change !== undefined && (version?.startsWith(`${landing.change}@`) ?? false);
    if (service.landing?.commit !== undefined || isOurs) return;
    if (version !== null && version !== service.committed) this.adopt(name, version);
    service.commits[service.committed] = head;
    service.head = head;
  }

  private adopt(name: string, version: string): void {
    const service = this.serviceOf(name);
    const before = service.committed;
    const isFirst = service.head === null;
    service.committed = version;
    delete service.contents[version];
    if (isFirst) return void this.rename(name, before, version);
    service.replaced[before] = version;
    for (const old of Object.keys(service.replaced).slice(0, -REPLACED)) delete service.replaced[old];
    const units = this.unitsOf(name);
    const touching = Object.entries(this.memory.state.updates).filter(([, update]) =>
      units.some((unit) => update.units[unit]),
    );
    service.interrupted = [...new Set(touching.map(([id]) => deployOf(id)))];
    this.rename(name, before, version);
    for (const unit of units) this.fail(unit, `somebody else has committed ${version} to the paths of ${name}`);
  }

  /** Whoever has what was committed before has what is committed now. */
  private rename(name: string, before: string, version: string): void {
    for (const unit of this.unitsOf(name)) {
      const it = unitOf(this.memory.state, unit);
      if (it.version === before) it.version = version;
      for (const slot of it.slots) if (slot.version === before) Object.assign(slot, { version, update: null });
    }
  }

  /** What is committed of the paths that a version concerns, so that a revert can expose it again. */
  private async keepCommitted(name: string, content: Content): Promise<void> {
    const service = this.serviceOf(name);
    const store = this.ports.storeOf(service.repository);
    const values = await Promise.all(Object.keys(content).map((path) => store.read(service.repository, path)));
    const present = Object.keys(content).map((path, index): [string, Content[string]] => {
      const { value = null, version = '' } = values[index] ?? {};
      return [path, { value, version }];
    });
    service.contents[service.committed] = { ...service.contents[service.committed], ...Object.fromEntries(present) };
  }

  /** The next slots of each update get its version: a part of the unit at a time, but for what goes back or lands. */
  private begin(name: string, unit: string): void {
    const { state } = this.memory;
    const it = unitOf(state, unit);
    for (const id of this.activeIn(unit)) {
      const update = state.updates[id];
      const version = update?.units[unit]?.version;
      if (update === undefined || version === undefined) continue;
      const pending = pendingSlots(state, unit, id).flatMap((index) => it.slots[index] ?? []);
      const inFlight = pending.filter((slot) => slot.update === id && slot.version === version).length;
      const isFast = update.updatedBy.length > 0 || it.update === id;
      const most = isFast ? Infinity : Math.ceil(it.slots.length / BATCHES) - inFlight;
      const next = pending.filter((slot) => slot.update !== id || slot.version !== version).slice(0, Math.max(0, most));
      for (const slot of next) Object.assign(slot, { version, update: id, state: 'updating' });
    }
  }

  private failRefused(name: string, unit: string): void {
    const service = this.serviceOf(name);
    const { slots } = unitOf(this.memory.state, unit);
    for (const id of this.activeIn(unit)) {
      const index = slots.findIndex((slot) => slot.update === id && slot.state === 'down' && !slot.gone);
      const slot = slots[index];
      if (slot === undefined) continue;
      const why = refusalOf(service, slot, this.subscriberOf(name, unit, index));
      const host = service.hosts[unit]?.[index];
      if (why !== undefined) this.fail(unit, `${host} refuses ${slot.version}: ${why}`.slice(0, 500), [id]);
    }
  }

  private async expose(name: string): Promise<void> {
    const service = this.serviceOf(name);
    const { repository, exposed } = service;
    const { overrides, shares } = wantedOverrides(name, service, this.memory.state);
    for (const id of Object.keys(service.shares)) delete service.shares[id];
    Object.assign(service.shares, shares);
    this.takeIntoShares(name);
    const store = this.ports.storeOf(repository);
    const wanted = new Map<string, Override[]>();
    for (const override of overrides) wanted.set(override.id, [...(wanted.get(override.id) ?? []), override]);
    for (const [id, ours] of wanted) {
      const text = JSON.stringify(ours.map(({ path, version, hosts, below }) => [path, version, hosts, below]));
      if (exposed[id] === text) continue;
      // Put down first: what was written by a process that died is found again.
      exposed[id] ??= '';
      this.memory.save();
      await store.putOverrides(repository, ours);
      exposed[id] = text;
    }
    for (const id of Object.keys(exposed)) {
      if (wanted.has(id)) continue;
      await store.removeOverrides(repository, id);
      delete exposed[id];
    }
  }

  /** A share takes in who stands in it. */
  private takeIntoShares(name: string): void {
    const service = this.serviceOf(name);
    for (const [update, { unit, below, version }] of Object.entries(service.shares))
      unitOf(this.memory.state, unit).slots.forEach((slot, index) => {
        const isIn = placeOf(name, service.hosts[unit]?.[index] ?? '') < below;
        if (isIn && slot.version === service.committed && slot.version !== version)
          Object.assign(slot, { version, update, state: 'updating' });
      });
  }

  /** What every unit is to be on, and is not committed, lands. */
  private async land(name: string): Promise<void> {
    const service = this.serviceOf(name);
    const units = this.unitsOf(name).map((unit) => unitOf(this.memory.state, unit));
    const [version = service.committed] = new Set(units.map((unit) => unit.version));
    const isOne = units.every((unit) => unit.version === version);
    const deciding = units[0]?.update ?? '';
    const isHeld = this.unitsOf(name).some(
      (unit) => this.memory.state.updates[deciding]?.units[unit]?.state === 'paused',
    );
    if (!isOne || version === service.committed) {
      // What was sent to the landing strip is answered before anything else lands.
      if (service.landing && !this.landings.isUnderWay(name) && service.landing.commit === undefined)
        service.landing = undefined;
    } else if (service.landing?.version !== version && !isHeld && !this.landings.isUnderWay(name)) {
      const ahead = (this.memory.state.updates[deciding]?.updatedBy.length ?? 0) > 0;
      service.landing = { version, ahead };
    }
    if (service.landing === undefined) return;
    await this.landings.advance(name, service, () => this.memory.save());
    if (service.landing.refused !== undefined)
      for (const unit of this.unitsOf(name)) this.fail(unit, service.landing.refused);
    if (await this.landings.isInStore(service)) {
      commitVersion(service, service.landing.version);
      await this.keepCommitted(name, service.contents[service.committed] ?? {});
      service.landing = undefined;
    }
  }

  private fail(unit: string, reason: string, ids = unfinished(this.memory.state, unit)): void {
    for (const id of ids) {
      const update = this.memory.state.updates[id]?.units[unit];
      if (update) Object.assign(update, { state: 'failed', reason } satisfies Partial<UnitUpdate>);
    }
  }

  private activeIn(unit: string): string[] {
    const { state } = this.memory;
    return unfinished(state, unit).filter((id) => state.updates[id]?.units[unit]?.state === 'active');
  }

  /** What is for the whole unit is through once it is committed, if all units are to be on it. */
  private finish(name: string, unit: string): void {
    const { state } = this.memory;
    const service = this.serviceOf(name);
    for (const id of this.activeIn(unit)) {
      const update = state.updates[id]?.units[unit];
      const isLanding = unitOf(state, unit).update === id && service.landing?.version === update?.version;
      if (update && !isLanding && pendingSlots(state, unit, id).length === 0) update.state = 'done';
    }
  }

  /** What no slot is on, and no update that is remembered brings. */
  private forgetVersions(name: string, asked: readonly string[]): void {
    const { state } = this.memory;
    const service = this.serviceOf(name);
    const units = this.unitsOf(name);
    const slots: Pick<Slot, 'version'>[] = units.flatMap((unit) => [unitOf(state, unit), ...unitOf(state, unit).slots]);
    const brought = Object.values(state.updates).flatMap((update) => units.map((unit) => update.units[unit]?.version));
    const needed = new Set([service.committed, ...asked, ...slots.map(({ version }) => version), ...brought]);
    for (const book of [service.contents, service.commits, service.changes])
      for (const version of Object.keys(book)) if (!needed.has(version)) delete book[version];
  }
}

/** `flags/feed` for the paths `feed/` of the repository `flags`. */
export const serviceName = ({ repository, paths }: ConfigPush): string =>
  [repository, ...paths.map((path) => path.replace(/\/$/, '')).filter((path) => path !== '')]
    .slice(0, 2)
    .join('/')
    .concat(...paths.slice(1).map((path) => `+${path.replace(/\/$/, '')}`));

const newService = (repository: string, paths: readonly string[]): Service => ({
  ...{ repository, paths, committed: 'none', head: null },
  ...{ contents: {}, commits: {}, changes: {}, hosts: {}, exposed: {}, shares: {}, replaced: {}, interrupted: [] },
});

/** @throws ExtensionError where a change goes beyond the paths of the pipeline */
function refuseForeign({ paths }: ConfigPush, version: string, content: Content): void {
  const foreign = Object.keys(content).find((path) => !paths.some((own) => isBelow(own, path)));
  if (foreign !== undefined)
    throw refusal(
      'not-deployable',
      `${version} changes ${foreign}, which config.paths does not name: ${paths.join(', ')}`,
    );
}

const isBelow = (own: string, path: string): boolean =>
  own === '' || own.endsWith('/') ? path.startsWith(own) : path === own;

const refusal = (code: string, message: string): ExtensionError => new ExtensionError(code, message, { status: 409 });
