import { unfitError } from '../../domain/errors';
import { over } from '../../domain/excess';
import { CONFIG_LIMITS } from '../../domain/limits';
import { begin, failRefused, finishUpdates } from './updates';
import { follow } from './committedVersion';
import { expose } from './exposure';
import { landWhole, type Landings } from './landings';
import type { ConfigMemory } from './memory';
import { mendOverrides } from './overrideRepair';
import type { FoundOverride } from '../store/inspection';
import type { ConfigPorts } from './ports';
import { refuseBusyPaths } from './versionRefusals';
import { ConfigServiceState } from './serviceState';
import { newService, refuseForeign, serviceName, type ConfigPush } from './service';
import { sweepOverrides } from './stale';
import { seat, readSubscribers } from './subscribers';
import { learnVersions, type WantedVersion } from './versions';

/**
 * Services: each is the paths of a repository that a pipeline owns, and each subscriber of them is a task. Calls only
 * record the wanted state; `step` exposes it, lands it, and checks which hosts have it.
 */
export class ConfigFleet {
  private readonly served = new Map<string, ConfigServiceState>();
  private readonly stepping = new Map<string, Promise<void>>();

  constructor(
    readonly memory: ConfigMemory,
    private readonly ports: ConfigPorts,
    private readonly landings: Landings,
  ) {}

  get services(): string[] {
    return Object.keys(this.memory.state.services);
  }

  /** Services with a running deploy or an override: they need steps even without requests. */
  get moving(): string[] {
    return this.services.filter((name) => this.servedOf(name).isMoving);
  }

  /** Loads the data for the following calls: subscribers, committed versions, and the contents of these versions. */
  async prepare(config: ConfigPush, versions: readonly WantedVersion[] = []): Promise<ConfigServiceState> {
    const served = this.servedOf(serviceName(config));
    await this.refresh(served, config);
    await learnVersions(served, this.ports, versions);
    return served;
  }

  /**
   * Why a change could not land, so that no host gets it in vain; undefined if no obstacle is known, or it has landed.
   * @throws ExtensionError as `contentOf` and `refuseForeign` do
   */
  async whyNotDeployed(config: ConfigPush, { version, artifacts }: WantedVersion): Promise<string | undefined> {
    const { service } = this.servedOf(serviceName(config));
    const { repository } = config;
    if (version === service.committed || service.commits[version] !== undefined) return undefined;
    const { content, landed } = await this.ports.changes.contentOf(repository, version, artifacts);
    if (landed !== null) return undefined;
    refuseForeign(config, version, content);
    return this.ports.changes.whyNotLand(repository, version);
  }

  /** @throws ExtensionError `path-busy` */
  refuseBusyPaths(served: ConfigServiceState, version: string, updateId: string): Promise<void> {
    return refuseBusyPaths(served, this.ports, version, updateId);
  }

  /** One step at a time. */
  step(name: string): Promise<void> {
    const running = this.stepping.get(name);
    if (running) return running;
    const step = this.stepOnce(this.servedOf(name)).finally(() => this.stepping.delete(name));
    this.stepping.set(name, step);
    return step;
  }

  /** Removes values that an old backup of the store restored, also without any deploy. */
  sweep(name: string): Promise<void> {
    return sweepOverrides(this.servedOf(name), this.ports);
  }

  /**
   * Checks the overrides of a store against those exposed here and repairs them; resolves to the number of wrong ones.
   */
  mendOverrides(repository: string, found: readonly FoundOverride[], isAll: boolean): Promise<number> {
    const all = this.services.map((name) => this.servedOf(name));
    const own = all.filter(({ service }) => service.repository === repository);
    return mendOverrides(own, this.ports.storeOf(repository), repository, found, isAll);
  }

  /** Why the version for a whole service does not land yet, while others go first. */
  landingWait(name: string): ReturnType<Landings['waitOf']> {
    const { service } = this.servedOf(name);
    return this.landings.waitOf(service);
  }

  /** Resolves once no step runs and no landing is pending. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.stepping.values());
    await this.landings.idle();
  }

  private servedOf(name: string): ConfigServiceState {
    const served = this.served.get(name) ?? new ConfigServiceState(name, this.memory);
    this.served.set(name, served);
    return served;
  }

  private async stepOnce(served: ConfigServiceState): Promise<void> {
    await this.refresh(served, served.service);
    for (const unit of served.units) {
      begin(served, unit);
      failRefused(served, unit);
    }
    served.save();
    await expose(served, this.ports);
    await landWhole(served, this.landings, this.ports);
    for (const unit of served.units) finishUpdates(served, unit);
    served.save();
  }

  /**
   * If there are too many services, an idle one makes room: its memory can be restored from the repository and the
   * store. @throws ConveyorError `over-limit`
   */
  private admit({ name, state }: ConfigServiceState, config: ConfigPush): void {
    const names = this.services;
    if (names.length >= CONFIG_LIMITS.services.max) {
      const idle = names.map((one) => this.servedOf(one)).find((one) => one.isForgettable);
      const excess = over(CONFIG_LIMITS.services, names.length + 1);
      if (idle === undefined && excess) throw unfitError(excess);
      if (idle !== undefined) this.forget(idle);
    }
    state.services[name] = newService(config);
  }

  private forget({ name, state, units }: ConfigServiceState): void {
    for (const unit of units) delete state.units[unit];
    delete state.services[name];
    this.served.delete(name);
  }

  /** Loads the present subscribers, and others' commits to the paths. */
  private async refresh(served: ConfigServiceState, config: ConfigPush): Promise<void> {
    const { repository, paths } = config;
    const { storeOf, log } = this.ports;
    const store = storeOf(repository);
    const [subscribers, head] = await Promise.all([readSubscribers(store, repository, paths), store.head(repository)]);
    if (served.state.services[served.name] === undefined) this.admit(served, config);
    const { name, service, state } = served;
    served.subscribers = subscribers;
    if (head !== undefined && head.commit !== service.head)
      await follow(served, this.ports, head.commit).catch((error: unknown) => {
        // A revert has to run even if the repository fails.
        if (service.head === null) throw error;
        log(`${name}: the changes of ${head.commit} are unknown: ${String(error)}`);
      });
    seat(name, service, state, subscribers, this.ports.now());
  }
}
