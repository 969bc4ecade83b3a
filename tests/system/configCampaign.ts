import { setTimeout as pause } from 'node:timers/promises';
import { EtcdStore } from '../../configerator/store/etcd';
import { draw, openStream } from '../../simulator/kernel/random';
import type { Etcd } from '../configerator/etcd';
import { judgeBooks, type Acknowledged } from '../configerator/landedBooks';
import type { ConfigWorld, HostSpec } from './configWorld';
import { eventually } from './waiting';

/** A process that is killed and started again. */
interface Victim {
  readonly name: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** How many changes must land between two deaths: a process that is never alive for long makes no progress. */
  readonly rest: number;
  isAlive: boolean;
  landedAtStart: number;
}

/** Callers wait this long: several processes that they need may be dead at once. */
const PATIENCE_MS = 300_000;
/** The longest time before a dead process is started again. */
const DEAD_MS = 400;
/** One proposal in this many never lands. */
const NEVER_LANDS = 4;

/**
 * Changes land one after the other on several paths, as fast as they can, while proxies, tailer, worker and etcd are
 * killed (−9) at moments chosen by the seed and started again. It records all promises.
 */
export class ConfigCampaign {
  readonly acknowledged: Acknowledged[] = [];
  readonly deaths: Record<string, number> = {};
  /** Answers of proxies that were older than an earlier one. */
  readonly backward: string[] = [];
  private readonly newest = new Map<string, number>();
  private readonly dice;
  private readonly victims: readonly Victim[];
  private isOver = false;
  private value = 0;

  constructor(
    private readonly world: ConfigWorld,
    private readonly etcd: Etcd,
    private readonly paths: readonly string[],
    private readonly hosts: readonly HostSpec[],
    seed: number,
    /** The longest time between two deaths, in ms. */
    private readonly betweenMs: number,
  ) {
    this.dice = openStream(seed, 'kills');
    const victim = (name: string, rest: number, does: Pick<Victim, 'kill' | 'start'>): Victim => {
      return { name, rest, ...does, isAlive: true, landedAtStart: -rest };
    };
    this.victims = [
      victim('worker', 2, { kill: () => world.stack.killWorker(), start: () => world.stack.startWorker() }),
      victim('tailer', 1, { kill: () => world.killService(), start: () => world.startService() }),
      victim('etcd', 1, { kill: () => etcd.kill(), start: () => etcd.start() }),
      ...hosts.map(({ host }) =>
        victim('proxy', 1, { kill: () => world.killProxy(host), start: () => world.startProxy(host) }),
      ),
    ];
  }

  /** Resolves once this many kills have happened, all processes are alive again, and every pending change has landed. */
  async run(kills: number): Promise<void> {
    const writing = this.paths.map((path) => this.write(path));
    const looking = this.hosts.map((host) => this.look(host));
    const starting: Promise<void>[] = [];
    for (let left = kills; left > 0;) {
      await pause(this.below(this.betweenMs));
      const victim = this.choose();
      if (victim === undefined) continue;
      left -= 1;
      starting.push(this.kill(victim));
    }
    await Promise.all(starting);
    this.isOver = true;
    await Promise.all([...writing, ...looking]);
  }

  /** Chooses among the processes that may die now, each kind equally often. */
  private choose(): Victim | undefined {
    const able = this.victims.filter(
      ({ isAlive, landedAtStart, rest }) => isAlive && this.acknowledged.length >= landedAtStart + rest,
    );
    const kinds = [...new Set(able.map(({ name }) => name))];
    const kind = kinds[Math.floor(this.below(kinds.length))];
    const those = able.filter(({ name }) => name === kind);
    return those[Math.floor(this.below(those.length))];
  }

  private async kill(victim: Victim): Promise<void> {
    victim.isAlive = false;
    this.deaths[victim.name] = (this.deaths[victim.name] ?? 0) + 1;
    await victim.kill();
    await pause(this.below(DEAD_MS));
    await victim.start();
    victim.landedAtStart = this.acknowledged.length;
    victim.isAlive = true;
  }

  private async write(path: string): Promise<void> {
    while (!this.isOver) {
      this.value += 1;
      const value = this.value;
      const version = await this.world.proposes({ [path]: value });
      if (this.below(NEVER_LANDS) < 1) continue;
      const landed = await eventually(`${version} lands`, () => this.world.lands(version), PATIENCE_MS);
      if ('refused' in landed) throw new Error(`${version} is refused: ${landed.refused.message}`);
      this.acknowledged.push({ change: landed.change, commit: landed.commit, path, value });
    }
  }

  /** A proxy may be away; its answer is never older than its previous one. */
  private async look({ host, path, url = '' }: HostSpec): Promise<void> {
    while (!this.isOver) {
      await pause(50);
      const signal = AbortSignal.timeout(5000);
      const answer = await fetch(`${url}/v1/config/${path}`, { signal })
        .then(
          (it) => it.json(),
          () => undefined,
        )
        .catch(() => undefined);
      const { sequence } = (answer ?? {}) as { readonly sequence?: number };
      if (sequence === undefined) continue;
      const before = this.newest.get(host) ?? 0;
      if (sequence < before) this.backward.push(`${host} went from ${before} to ${sequence}`);
      this.newest.set(host, Math.max(before, sequence));
    }
  }

  /** Waits until every application has the last committed value; resolves to the faults. */
  async judge(): Promise<readonly string[]> {
    const { world, etcd, hosts, acknowledged } = this;
    const branch = (await world.repository.log(100_000)).toReversed();
    const paths = new Map(hosts.map(({ host, path }) => [host, path]));
    const judged = async (): Promise<string[]> => {
      const store = await new EtcdStore({ url: etcd.url }).head('flags');
      return judgeBooks({ acknowledged, branch, store, got: world.got(), paths });
    };
    await eventually('every application has what was committed last', async () => {
      const late = (await judged()).filter((wrong) => /^the store is|^\S+ ends at/.test(wrong));
      if (late.length === 0) return true;
      throw new Error(late.join(', '));
    });
    return [...(await judged()), ...this.backward];
  }

  private below(limit: number): number {
    return draw(this.dice) * limit;
  }
}
