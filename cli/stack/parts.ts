import { delimiter, dirname, join } from 'node:path';
import type { Env } from '../../settings/env';
import { installRoot } from '../../settings/registry';
import { linkEnvironment, type LinkSignIn } from '../../settings/signInLink';
import { parseHost, parsePort, type Addresses } from './addresses';
import type { ChildSpec } from './child';
import type { ConfigStack } from './configuration';
import { accepts } from '../../client/accepts';
import { respondsOk } from './ports';

/** The processes of the development stack; the last three only with `--config`. */
export type PartName = 'temporal' | 'simulator' | 'worker' | 'server' | 'etcd' | 'config-service' | 'config-proxy';

export interface StackOptions {
  readonly addresses: Addresses;
  readonly env: Env;
  readonly logFolder: string;
  /** The command that started it. */
  readonly startedBy: string;
  readonly seed: number;
  /** The speed of the simulated world, relative to real time. */
  readonly speed: number;
  /** Temporal's database: the usual one, in memory, or a file of this stack. */
  readonly database: 'usual' | 'memory' | { readonly file: string };
  readonly config?: ConfigStack | undefined;
  /** The file of its own archive; by default that of the configuration, which belongs to the usual database. */
  readonly archive?: string | undefined;
  /** How its server signs the user of the stack in to pages. */
  readonly signIn?: LinkSignIn | undefined;
}

export interface StackPart {
  readonly name: PartName;
  readonly address: string;
  /** Whether it already runs, no matter which process started it. A worker cannot be checked. */
  isThere(): Promise<boolean>;
  /** Its port; null if it has none. */
  readonly port: number | null;
  readonly child: ChildSpec;
  readonly timeoutMs: number;
}

/** Getting a Temporal server may take a download or a build of several minutes. */
const TEMPORAL_TIMEOUT_MS = 600_000;
const TIMEOUT_MS = 60_000;

export function temporalPart(options: StackOptions): StackPart {
  const { temporal, webUi } = options.addresses;
  const args = ['--port', String(parsePort(temporal)), '--ui-port', String(parsePort(webUi))];
  const { env, ...common } = commonSpec(options, 'temporal');
  // Node, which guards the Web UI, may have been started by its full path.
  const path = [env['PATH'], dirname(process.execPath)].filter(Boolean).join(delimiter);
  return {
    name: 'temporal',
    address: temporal,
    isThere: () => accepts(parseHost(temporal), parsePort(temporal)),
    port: parsePort(temporal),
    child: {
      ...common,
      env: { ...env, PATH: path },
      name: 'Temporal server',
      command: join(installRoot(), 'temporal-dev.sh'),
      args: [...args, ...databaseArgs(options.database)],
      isReady: (log) => /^Temporal ready/m.test(log),
      endedByChance: hasLostPortRace,
    },
    timeoutMs: TEMPORAL_TIMEOUT_MS,
  };
}

/**
 * The server chooses ports for its services before it listens there. If another process takes one meanwhile, the server
 * panics after merely logging the failure to listen.
 */
const hasLostPortRace = (log: string): boolean => /^panic: /m.test(log);

export function simulatorPart(options: StackOptions): StackPart {
  const { simulator } = options.addresses;
  const isThere = (): Promise<boolean> => respondsOk(`${simulator}/control/jobs`);
  return {
    name: 'simulator',
    address: simulator,
    isThere,
    port: parsePort(simulator),
    child: node(options, 'simulator', 'simulator/main.js', isThere, [
      '--port',
      String(parsePort(simulator)),
      '--seed',
      String(options.seed),
      '--speed',
      String(options.speed),
    ]),
    timeoutMs: TIMEOUT_MS,
  };
}

export function workerPart(options: StackOptions): StackPart {
  return {
    name: 'worker',
    address: options.addresses.taskQueue,
    isThere: () => Promise.resolve(false),
    port: null,
    child: node(options, 'worker', 'workers/main.js', (log) => /^conveyor worker ready/m.test(log), []),
    timeoutMs: TIMEOUT_MS,
  };
}

export function serverPart(options: StackOptions): StackPart {
  const { server } = options.addresses;
  return {
    name: 'server',
    address: server,
    isThere: () => respondsOk(`${server}/livez`),
    port: parsePort(server),
    child: {
      ...node(options, 'server', 'server/main.js', () => respondsOk(`${server}/readyz`), [
        '--port',
        String(parsePort(server)),
      ]),
      env: { ...(options.signIn && linkEnvironment(options.signIn)), ...options.env },
    },
    timeoutMs: TIMEOUT_MS,
  };
}

/** It is downloaded if missing, which may take a minute. */
const ETCD_TIMEOUT_MS = 180_000;

export function etcdPart(options: StackOptions, { repository: { etcd }, peerPort, folder }: ConfigStack): StackPart {
  const [address = etcd] = etcd.split(',');
  const isThere = (): Promise<boolean> => respondsOk(`${address}/health`);
  const peer = `http://127.0.0.1:${peerPort}`;
  const flags = {
    ...{ name: 'dev', 'data-dir': join(folder, 'etcd'), 'log-level': 'warn', 'initial-cluster': `dev=${peer}` },
    ...{ 'listen-client-urls': address, 'advertise-client-urls': address },
    ...{ 'listen-peer-urls': peer, 'initial-advertise-peer-urls': peer },
  };
  return {
    ...{ name: 'etcd', address, isThere, port: parsePort(address), timeoutMs: ETCD_TIMEOUT_MS },
    child: {
      ...{ ...commonSpec(options, 'etcd'), name: 'etcd', isReady: isThere },
      command: join(installRoot(), 'scripts', 'etcd.sh'),
      args: ['--run', ...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value])],
    },
  };
}

export function configServicePart(options: StackOptions, { service, folder }: ConfigStack): StackPart {
  const isThere = (): Promise<boolean> => respondsOk(`${service}/healthz`);
  const args = ['--port', String(parsePort(service)), '--state', join(folder, 'service.json')];
  return {
    ...{ name: 'config-service', address: service, isThere, port: parsePort(service), timeoutMs: TIMEOUT_MS },
    child: node(options, 'config-service', 'server/configService/main.js', isThere, args),
  };
}

/** Serves all requests of applications on this machine. */
export function configProxyPart(options: StackOptions, { proxy, folder, repository }: ConfigStack): StackPart {
  const isThere = (): Promise<boolean> => respondsOk(`${proxy}/health`);
  const flags = { repository: repository.name, etcd: repository.etcd, port: String(parsePort(proxy)) };
  const args = Object.entries({ ...flags, cache: join(folder, 'proxy'), label: 'region=dev' });
  return {
    ...{ name: 'config-proxy', address: proxy, isThere, port: parsePort(proxy), timeoutMs: TIMEOUT_MS },
    child: node(
      options,
      'config-proxy',
      'configerator/proxy/main.js',
      isThere,
      args.flatMap(([flag, value]) => [`--${flag}`, value]),
    ),
  };
}

function databaseArgs(database: StackOptions['database']): readonly string[] {
  if (database === 'usual') return [];
  return database === 'memory' ? ['--ephemeral'] : ['--db', database.file];
}

/** The compiled entry point of a process. */
export const entryPoint = (path: string): string => join(installRoot(), 'dist', path);

function node(
  options: StackOptions,
  name: PartName,
  path: string,
  isReady: ChildSpec['isReady'],
  args: readonly string[],
): ChildSpec {
  return { ...commonSpec(options, name), name, command: process.execPath, args: [entryPoint(path), ...args], isReady };
}

function commonSpec(options: StackOptions, name: PartName): Pick<ChildSpec, 'env' | 'logFile' | 'startedBy'> {
  const { env, logFolder, startedBy } = options;
  return { env, startedBy, logFile: join(logFolder, `${name}.log`) };
}
