import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Balancer } from '../../push-types/hosts/balancer';
import { HostFleet } from '../../push-types/hosts/fleet';
import type { HostStep } from '../../push-types/hosts/hostPlan';
import type { HostApp, HostWorld } from '../../push-types/hosts/hostDeploy';
import { Packages } from '../../push-types/hosts/packages';
import type { HostsState } from '../../push-types/hosts/slots';
import { Memory } from '../../sdk/updates';
import { FakeHost, FakePackages } from './fakeHosts';

const APP: HostApp = {
  ...{ root: '/srv/app', service: 'app.service', sudo: true, keep: 5, shared: [], drainMs: 0 },
  health: { url: 'http://127.0.0.1:8080/healthz', settleMs: 0, timeoutMs: 30 },
};

/** Hosts in memory under the real push type, which tests stop, start again, and rob of its memory. */
export class HostsWorld {
  readonly packages = new FakePackages(['kv:1', 'new:1', 'new:2', 'older:1', 'dead:1']);
  readonly hosts = new Map<string, FakeHost>();
  readonly units = new Map<string, string[]>();
  readonly logged: string[] = [];
  readonly file = join(this.packages.folder, 'state.json');
  onStep: (host: string, step: HostStep | null) => void = () => undefined;
  fleet: HostFleet;
  source: Packages;
  now = Date.now();
  /** By how much the clock of the push type is wrong. */
  clockError = 0;

  constructor(
    units: Readonly<Record<string, number>>,
    private readonly options: {
      readonly balancer?: Balancer;
      readonly atOnce?: number;
      readonly mostOut?: number;
    } = {},
  ) {
    for (const [unit, size] of Object.entries(units)) {
      this.units.set(unit, []);
      for (let index = 1; index <= size; index += 1) this.join(unit, 'kv:1');
    }
    ({ fleet: this.fleet, source: this.source } = this.open());
  }

  /** A host joins a unit; with a version it has run before. */
  join(unit: string, version?: string): FakeHost {
    const names = this.units.get(unit) ?? [];
    const host = new FakeHost(`${unit}-${names.length + 1}`, (one) => one.startsWith('dead'));
    if (version !== undefined) {
      host.releases.set(version, '');
      host.current = version;
      host.start();
    }
    this.units.set(unit, [...names, host.name]);
    this.hosts.set(host.name, host);
    return host;
  }

  host(name: string): FakeHost {
    const found = this.hosts.get(name);
    if (found === undefined) throw new Error(`there is no host ${name}`);
    return found;
  }

  /** The push type begins, or begins anew after a crash. */
  open(): { fleet: HostFleet; source: Packages } {
    const memory = new Memory(this.file);
    const state: HostsState = memory.state;
    const { from, cache } = this.packages;
    this.source = new Packages({ from, folder: cache, timeoutMs: 1000, digests: (state.digests ??= {}) });
    this.fleet = new HostFleet({
      ...{ memory, balancer: this.options.balancer ?? null, atOnce: this.options.atOnce ?? 2 },
      countMostOut: () => this.options.mostOut ?? 2,
      ...{ patienceMs: 100, now: () => this.now + this.clockError, elapsed: () => this.now },
      log: (line) => this.logged.push(line),
    });
    this.list();
    return { fleet: this.fleet, source: this.source };
  }

  /** The inventory as it is now. */
  list(): void {
    this.fleet.setHosts(
      new Map([...this.units].map(([unit, names]) => [unit, names.map((name) => this.worldOf(name))])),
    );
  }

  /** The line of a host in the inventory changes. */
  move(name: string): void {
    this.worlds.delete(name);
    this.list();
  }

  /** The memory is gone; the hosts are not. */
  lose(): void {
    rmSync(this.file);
    this.open();
  }

  /** Lets every unit do all that it has to; time passes, so that silent hosts are asked again. */
  async settle(most = 60): Promise<void> {
    for (let round = 0; round < most; round += 1) {
      this.now += 60_000;
      const open = await Promise.all(this.fleet.unitNames.map((unit) => this.fleet.step(unit)));
      if (!open.some(Boolean)) return;
    }
  }

  versions(unit: string): string[] {
    return (this.units.get(unit) ?? []).map((name) => this.host(name).current);
  }

  close(): void {
    this.packages.close();
  }

  private readonly worlds = new Map<string, HostWorld>();

  private worldOf(name: string): HostWorld {
    const known = this.worlds.get(name) ?? {
      ...{ name, port: this.host(name), app: APP, balancer: this.options.balancer ?? null },
      getPackage: (version: string) => this.source.get(version),
      digest: (version: string) => this.source.digest(version) ?? '',
      elapsed: () => performance.now(),
      log: (line: string) => void this.logged.push(line),
      onStep: (step: HostStep | null) => this.onStep(name, step),
    };
    this.worlds.set(name, known);
    return known;
  }
}
