import { join } from 'node:path';
import { concurrencyGate } from '../../sdk';
import type { Balancer } from './balancer';
import type { HostApp, HostWorld } from './hostDeploy';
import { fillVariables, type Host } from './inventory';
import type { Packages } from './packages';
import type { HostPort } from './port';
import type { InventoryFile } from './settings';
import { openSsh2 } from './ssh2Port';
import { openSystemSsh } from './systemSsh';

export interface WorldParts {
  /** The folder of the sockets of SSH. */
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  readonly file: InventoryFile;
  readonly packages: Packages;
  readonly balancer: Balancer | null;
}

/** One world for each host, as long as its line of the inventory stays the same. */
export function rememberWorlds({ home, env, log, file, packages, balancer }: WorldParts): (host: Host) => HostWorld {
  const worlds = new Map<string, { readonly line: string; readonly world: HostWorld }>();
  const connecting = concurrencyGate(file.ssh.connectsAtOnce);
  const openPort = (host: Host): HostPort => {
    if (file.ssh.transport === 'ssh2') return openSsh2(host, { ssh: file.ssh, connecting, env });
    if (host.fingerprint !== undefined)
      throw new Error(`${host.name} has a fingerprint, which only the transport ssh2 compares: use known_hosts`);
    return openSystemSsh(host, { ssh: file.ssh, connecting, sockets: join(home, 'sockets') });
  };
  return (host) => {
    const line = JSON.stringify(host);
    const known = worlds.get(host.name);
    if (known?.line === line) return known.world;
    const world: HostWorld = {
      ...{
        name: host.name,
        port: openPort(host),
        app: fillApp(file.app, host),
        balancer,
        elapsed: () => performance.now(),
        log,
      },
      getPackage: (version) => packages.get(version),
      digest: (version) => packages.digest(version) ?? '',
    };
    worlds.set(host.name, { line, world });
    return world;
  };
}

function fillApp({ root, service, sudo, keep, shared, health, drain }: InventoryFile['app'], host: Host): HostApp {
  return {
    ...{ root, service: fillVariables(service, host), sudo, keep, shared, drainMs: drain },
    health: health
      ? { url: fillVariables(health.url, host), settleMs: health.settle, timeoutMs: health.timeout }
      : null,
  };
}
