import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import { EtcdStore } from '../../configerator/store/etcd';
import { Etcd } from '../configerator/etcd';
import { commitOf } from '../configerator/storeSuite';
import { Processes, type Env, type Running } from './process';
import { eventually } from './waiting';

/** Hosts whose proxy is a separate process, over a real etcd whose commits look as if they had landed. */
export class ProxiedHosts {
  readonly processes = new Processes();
  readonly home = mkdtempSync(join(tmpdir(), 'conveyor-hosts-'));
  private sequence = 0;

  private constructor(
    readonly repository: string,
    readonly etcd: Etcd,
    readonly store: EtcdStore,
    private readonly ports: readonly number[],
  ) {}

  static async open(repository: string, count: number): Promise<ProxiedHosts> {
    const etcd = await Etcd.start();
    const store = new EtcdStore({ url: etcd.url, timeoutMs: 2000 });
    return new ProxiedHosts(repository, etcd, store, await freePorts(count));
  }

  async close(): Promise<void> {
    await this.processes.reap();
    await this.etcd.close();
    rmSync(this.home, { recursive: true, force: true });
  }

  url(at: number): string {
    return `http://127.0.0.1:${this.ports[at]}`;
  }

  commit(path: string, value: string): Promise<unknown> {
    this.sequence += 1;
    const next = commitOf(this.sequence, { [path]: value });
    return eventually('the store takes it', () => this.store.apply(this.repository, next));
  }

  cache(at: number): string {
    return join(this.home, hostAt(at));
  }

  async startProxy(at: number, env: Env, more: Readonly<Record<string, string>> = {}): Promise<Running> {
    const own = { cache: this.cache(at), host: hostAt(at), port: String(this.ports[at]) };
    const flags = { repository: this.repository, etcd: this.etcd.url, ...own, ...more };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    const running = this.processes.node('bin/conveyor.js', ['config-proxy', ...args], env);
    await running.said(/^config-proxy ready/m);
    return running;
  }

  async answer(at: number, route: string): Promise<Record<string, unknown>> {
    return (await (await fetch(`${this.url(at)}/v1/${route}`)).json()) as Record<string, unknown>;
  }
}

const hostAt = (at: number): string => `h${at + 1}`;
