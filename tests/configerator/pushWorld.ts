import type { Hono } from 'hono';
import { ConfigFleet } from '../../configerator/pushType/fleet';
import { gitChanges } from '../../configerator/pushType/changes';
import { Landings } from '../../configerator/pushType/landings';
import { ConfigMemory } from '../../configerator/pushType/memory';
import type { ConfigPorts, Land } from '../../configerator/pushType/ports';
import { configPushType, type Deployable } from '../../configerator/pushType/pushType';
import { Lander } from '../../configerator/repository/land';
import { MemoryStore } from '../../configerator/store/memory';
import type { ConfigStore } from '../../configerator/store/port';
import { tail } from '../../configerator/tailer/tail';
import { judgeTargets, type UnitTasks } from '../../sdk/health';
import { Hosts } from './hosts';
import { bench, NOW, type Bench } from './repositories';

const R = 'flags';

export interface Progress {
  readonly id: string;
  readonly state: string;
  readonly targeted: number;
  readonly live: number;
  readonly gone: number;
  readonly reason?: string;
}

/** A real repository whose changes land at once, a store in memory, hosts that read it, and the push type over all of that. */
export class PushWorld {
  readonly hosts: Hosts;
  readonly landed: number[] = [];
  /** Whose health was asked for. */
  readonly judged: UnitTasks[] = [];
  /** Keeps the next landings waiting, or breaks them. */
  beforeLand: () => Promise<void> = () => Promise.resolve();
  /** Called once a change is in the store, before the push type knows. */
  afterLand: () => void = () => undefined;
  fleet!: ConfigFleet;
  app!: Hono;
  private readonly lander: Lander;
  private keys = 0;

  private constructor(
    readonly bench: Bench,
    readonly store: ConfigStore,
    private readonly memoryFile: string | null,
    private readonly seenAs: (fleet: ConfigFleet) => Deployable,
  ) {
    this.hosts = new Hosts(store, R);
    this.lander = new Lander(bench.repository);
    this.restart();
  }

  static async open(
    memoryFile: string | null = null,
    store: ConfigStore = new MemoryStore(() => 0),
    seenAs: (fleet: ConfigFleet) => Deployable = (fleet) => fleet,
  ): Promise<PushWorld> {
    return new PushWorld(await bench(), store, memoryFile, seenAs);
  }

  /** Another process of the service. */
  restart(ports: Partial<ConfigPorts> = {}): void {
    const all: ConfigPorts = {
      storeOf: () => this.store,
      changes: gitChanges(
        () => Promise.resolve(this.bench.repository),
        () => NOW,
      ),
      land: this.land,
      log: () => undefined,
      now: () => NOW,
      ...ports,
    };
    this.fleet = new ConfigFleet(new ConfigMemory(this.memoryFile), all, new Landings(all));
    this.app = configPushType(this.seenAs(this.fleet), (request) => {
      this.judged.push(...request.targets);
      return judgeTargets({ ...request, query: () => Promise.resolve({ series: [] }) });
    });
  }

  land: Land = async ({ change }) => {
    await this.beforeLand();
    const [landing] = await this.lander.land([change], NOW);
    if (landing === undefined) throw new Error('no answer');
    if ('commit' in landing) this.landed.push(change);
    await this.tail();
    this.afterLand();
    return landing;
  };

  async tail(): Promise<void> {
    await tail(this.bench.repository, this.store, 100);
  }

  /** A pushed change that lands without a pipeline. */
  async commits(values: Readonly<Record<string, unknown>>): Promise<string> {
    const { change, version } = await this.bench.proposeValues(values);
    await this.land({ repository: R, change });
    this.landed.pop();
    await this.hosts.look();
    return version;
  }

  async ask<T = Record<string, unknown>>(method: string, request: object, paths = ['feed/']): Promise<T> {
    const context = {
      ...{ pipeline: 'feed', release: 1, deployId: 'deploy/feed/1/deploy/1', actor: 'user:alice' },
      config: { repository: R, paths },
    };
    const response = await this.app.request(`/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': `key ${(this.keys += 1)}` },
      body: JSON.stringify({ ...request, context }),
    });
    const body = (await response.json()) as T & { error?: { code: string; message: string } };
    if (response.status !== 200) throw new Error(`${body.error?.code}: ${body.error?.message}`);
    return body;
  }

  push(updateId: string, version: string, rest: object = {}, paths?: string[]): Promise<unknown> {
    const { units = ['flags/feed:eu'], ...more } = rest as { units?: string[] };
    const { wholeUnit = false, urgency = 'normal', ...target } = more as { wholeUnit?: boolean; urgency?: string };
    const targets = units.map((unit) => ({ unit, version, artifacts: [], ...target }));
    return this.ask('executeUpdates', { updateId, wholeUnit, urgency, targets }, paths);
  }

  /** As the last step of a deploy. */
  complete(deploy: string, version: string, units: string[], paths?: string[]): Promise<unknown> {
    return this.push(`${deploy}/9/1`, version, { units, wholeUnit: true, amount: { all: true } }, paths);
  }

  revert(deploy: string, to: string, updatedBy: string[], units: string[], paths?: string[]): Promise<unknown> {
    return this.push(`${deploy}/revert/1`, to, { units, urgency: 'revert', updatedBy }, paths);
  }

  async progress(updateId: string, paths?: string[]): Promise<readonly Progress[]> {
    return (await this.ask<{ units: Progress[] }>('trackUpdates', { updateId }, paths)).units;
  }

  /** Until nothing moves any more. */
  async settle(rounds = 12): Promise<void> {
    for (let n = 0; n < rounds; n += 1) {
      for (const service of this.fleet.services) await this.fleet.step(service);
      await this.hosts.look();
      await this.fleet.idle();
    }
  }
}
