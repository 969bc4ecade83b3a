import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import { EtcdStore } from '../../configerator/store/etcd';
import { hostUser } from '../../configerator/store/lockPlan';
import type { Certificates } from '../configerator/certificates';
import type { Etcd } from '../configerator/etcd';
import { cleanEnv, Processes, ROOT, type Env, type Running } from './process';
import type { Stack } from './stack';

/** The store of a world of configuration, and how processes log in to it. */
export interface WorldStore {
  /** `config.repositories.NAME.etcd` of the settings. */
  readonly settings: string | object;
  /** Variables that the settings name. */
  readonly env: Env;
  /** Options and variables of the proxy of a host. */
  proxy(host: string): { readonly options: Readonly<Record<string, string>>; readonly env: Env };
  /** Logs in as the configuration service. */
  enter(): EtcdStore;
  /** Runs before the configuration service starts. */
  prepare?(stack: Stack): Promise<void>;
  close(): Promise<void>;
}

/** Every process on this machine reads and writes it. */
export const openStore = (etcd: Etcd): WorldStore => ({
  ...{ settings: etcd.url, env: {} },
  proxy: () => ({ options: { etcd: etcd.url }, env: {} }),
  enter: () => new EtcdStore({ url: etcd.url }),
  close: () => etcd.close(),
});

const [SERVICE, ROOT_PASSWORD, PASSWORD] = ['conveyor', 'the administrator', 'the service'];

/** `config-store.sh`, locked by `conveyor config lock-store --per-host`. */
export class LockedStore implements WorldStore {
  readonly settings: object;
  readonly env: Env = { CONVEYOR_ETCD_PASSWORD: PASSWORD, CONVEYOR_ETCD_ROOT_PASSWORD: ROOT_PASSWORD };
  /** Every client presents these. */
  readonly certificates: Certificates;

  private constructor(
    readonly url: string,
    private readonly data: string,
    private readonly hosts: readonly string[],
    private readonly processes: Processes,
    readonly running: Running,
  ) {
    this.settings = {
      ...{ url, user: SERVICE, passwordEnv: 'CONVEYOR_ETCD_PASSWORD' },
      ...{ ca: this.file('ca.pem'), cert: this.file('client.pem'), key: this.file('client.key') },
    };
    const text = (name: string): string => readFileSync(this.file(name), 'utf8');
    this.certificates = { ca: text('ca.pem'), cert: text('client.pem'), key: text('client.key') };
  }

  /** @param data its own folder @param hosts all hosts that get a user */
  static async start(data: string, hosts: readonly string[]): Promise<LockedStore> {
    const processes = new Processes();
    // The store uses this port and the next one.
    const port = Math.min(...(await freePorts(5)));
    const env = { ...cleanEnv(data), CONVEYOR_ETCD: process.env['CONVEYOR_ETCD'] ?? '' };
    const args = [join(ROOT, 'config-store.sh'), '--port', String(port), '--data', data];
    const running = processes.start('bash', args, env);
    const [, url = ''] = await running.said(/^Store of configuration ready at (\S+)[\s\S]*its values stay/m);
    return new LockedStore(url, data, hosts, processes, running);
  }

  async prepare(stack: Stack): Promise<void> {
    const hosts = this.hosts.flatMap((host) => ['--host', host]);
    await stack.json(['config', 'lock-store', '--per-host', ...hosts, '--out', this.data]);
  }

  passwordOf(host: string): string {
    return /=(.*)\n/.exec(readFileSync(this.file(`${host}.env`), 'utf8'))?.[1] ?? '';
  }

  proxy(host: string) {
    const files = { 'etcd-ca': 'ca.pem', 'etcd-cert': 'client.pem', 'etcd-key': 'client.key' };
    return {
      options: {
        ...{ etcd: this.url, 'etcd-user': hostUser(host), 'etcd-password-env': 'CONVEYOR_ETCD_PASSWORD' },
        ...Object.fromEntries(Object.entries(files).map(([option, name]) => [option, this.file(name)])),
      },
      env: { CONVEYOR_ETCD_PASSWORD: this.passwordOf(host) },
    };
  }

  enter(): EtcdStore {
    return this.enterAs(SERVICE, PASSWORD);
  }

  enterAsHost(host: string): EtcdStore {
    return this.enterAs(hostUser(host), this.passwordOf(host));
  }

  private enterAs(user: string, password: string): EtcdStore {
    return new EtcdStore({ url: this.url, tls: this.certificates, login: { user, password } });
  }

  close(): Promise<void> {
    return this.processes.reap();
  }

  private file(name: string): string {
    return join(this.data, name);
  }
}
