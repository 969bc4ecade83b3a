import { isLoopback } from '../../domain/loopback';
import type { Env } from '../../settings/env';
import { freePorts } from './ports';

/** The addresses of the parts of a stack (docs/reference/cli.md#the-development-stack). */
export interface Addresses {
  /** host:port */
  readonly temporal: string;
  readonly webUi: string;
  readonly simulator: string;
  readonly server: string;
  readonly taskQueue: string;
}

const TEMPORAL_PORT = 7233;

/** The usual addresses, or those of the environment and flags. */
export function usualAddresses(env: Env, flags: { readonly address?: string; readonly taskQueue?: string }): Addresses {
  const temporal = flags.address ?? (env.TEMPORAL_ADDRESS || `localhost:${TEMPORAL_PORT}`);
  return {
    temporal,
    webUi: env.CONVEYOR_WEB_UI || `http://localhost:${parsePort(temporal) + 1000}`,
    simulator: env.CONVEYOR_SIMULATOR_URL || 'http://localhost:4400',
    server: env.CONVEYOR_SERVER_URL || 'http://localhost:4500',
    taskQueue: flags.taskQueue ?? (env.CONVEYOR_TASK_QUEUE || 'conveyor'),
  };
}

/** Free ports for everything, so that several stacks can run at the same time. */
export async function freeAddresses(env: Env): Promise<Addresses> {
  const [temporal, webUi, simulator, server] = await freePorts(4);
  return {
    temporal: `127.0.0.1:${temporal}`,
    webUi: `http://localhost:${webUi}`,
    simulator: `http://127.0.0.1:${simulator}`,
    server: `http://127.0.0.1:${server}`,
    taskQueue: env.CONVEYOR_TASK_QUEUE || 'conveyor',
  };
}

interface StackPlaces {
  readonly addresses: Addresses;
  /** The environment of the configuration part, if there is one. */
  readonly config?: { readonly env: Readonly<Record<string, string>> } | undefined;
  /** The file of the archive, if it is not that of the configuration. */
  readonly archive?: string | undefined;
}

/** The environment variables through which a process finds the others. */
export function stackEnvironment({ addresses, config, archive }: StackPlaces): Record<string, string> {
  return {
    TEMPORAL_ADDRESS: addresses.temporal,
    CONVEYOR_WEB_UI: addresses.webUi,
    CONVEYOR_SIMULATOR_URL: addresses.simulator,
    CONVEYOR_SERVER_URL: addresses.server,
    CONVEYOR_TASK_QUEUE: addresses.taskQueue,
    ...(archive === undefined ? {} : { CONVEYOR_ARCHIVE_FILE: archive }),
    ...config?.env,
  };
}

/** `localhost:7233` or a URL → its port. */
export function parsePort(address: string): number {
  const { port, protocol } = new URL(address.includes('://') ? address : `tcp://${address}`);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

export const parseHost = (address: string): string =>
  new URL(address.includes('://') ? address : `tcp://${address}`).hostname.replace(/^\[|\]$/g, '');

export const isLocal = (address: string): boolean => isLoopback(parseHost(address));
