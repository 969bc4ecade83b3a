import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { serve } from '@hono/node-server';
import { endProcess, OWN_ADDRESS, serveProcess } from '../../serveProcess';
import { openSlowrollService, type SlowrollService } from './slowrollService';

/**
 * The push type for hosts that poll, and their manifest server, as a process: `main.js --settings FILE [--port 4650] [--host ADDRESS] [--hosts-port 4651]
 * [--hosts-address ADDRESS] [--home FOLDER] [--prometheus URL]`. It may be killed at any time: its decisions are in its home, and the rest is learned from the hosts.
 */

async function startSlowroll(): Promise<void> {
  const { values } = parseArgs({
    options: {
      settings: { type: 'string' },
      port: { type: 'string', default: '4650' },
      host: { type: 'string', default: OWN_ADDRESS },
      'hosts-port': { type: 'string', default: '4651' },
      'hosts-address': { type: 'string', default: OWN_ADDRESS },
      home: { type: 'string', default: '.conveyor/slowroll' },
      prometheus: { type: 'string' },
    },
  });
  const { settings, port, host, home, prometheus } = values;
  if (settings === undefined)
    throw new Error('--settings FILE is missing: it names the packages and regions (docs/reference/slowroll.md)');
  await serveProcess({
    ...{ name: 'slowroll', host, port, tokenVariable: 'CONVEYOR_SLOWROLL_TOKEN' },
    open: async ({ token, log, signal }) => {
      const service = await openSlowrollService({
        ...{ settings: resolve(settings), home: resolve(home), prometheus },
        ...{ token, env: process.env, log },
      });
      const { fleet, keyId, tls, pushType } = service;
      if (tls === undefined && values['hosts-address'] !== OWN_ADDRESS)
        log(
          'warning: hosts send their tokens in plain HTTP: add tls to the settings, or put a proxy with TLS in front',
        );
      const url = await serveManifests(service, values['hosts-address'], values['hosts-port'], signal);
      const known = `${fleet.hosts.table.count} hosts in ${[...fleet.units.keys()].join(', ')}`;
      return {
        fetch: pushType.fetch,
        run: () => service.run(signal),
        words: `for hosts on ${url}; ${known}; key ${keyId}`,
      };
    },
  });
}

/** Serves the manifests to the hosts until the signal is aborted. @returns the address that the hosts poll */
async function serveManifests(
  { manifests, tls }: SlowrollService,
  hostname: string,
  port: string,
  signal: AbortSignal,
): Promise<string> {
  const secure = tls === undefined ? {} : { createServer: createTlsServer, serverOptions: tls };
  const server = serve({ fetch: manifests.fetch, port: Number(port), hostname, ...secure });
  await once(server, 'listening');
  server.on('error', endProcess);
  signal.addEventListener('abort', () => server.close());
  return `${tls === undefined ? 'http' : 'https'}://${hostname}:${(server.address() as AddressInfo).port}`;
}

startSlowroll().catch(endProcess);
