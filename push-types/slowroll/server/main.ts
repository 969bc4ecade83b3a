import { createServer as createTlsServer } from 'node:https';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { serve } from '@hono/node-server';
import { localOnly } from '../../../sdk';
import { openSlowrollService } from './slowrollService';

/**
 * The push type for hosts that poll, and their manifest server, as a process: `main.js --settings FILE [--port 4650] [--host ADDRESS] [--hosts-port 4651]
 * [--hosts-address ADDRESS] [--home FOLDER] [--prometheus URL]`. It may be killed at any time: its decisions are in its home, and the rest is learned from the hosts.
 */

const LOCAL_ADDRESS = '127.0.0.1';

async function startSlowroll(): Promise<void> {
  const { values } = parseArgs({
    options: {
      settings: { type: 'string' },
      port: { type: 'string', default: '4650' },
      host: { type: 'string', default: LOCAL_ADDRESS },
      'hosts-port': { type: 'string', default: '4651' },
      'hosts-address': { type: 'string', default: LOCAL_ADDRESS },
      home: { type: 'string', default: '.conveyor/slowroll' },
      prometheus: { type: 'string' },
    },
  });
  if (values.settings === undefined)
    throw new Error('--settings FILE is missing: it names the packages and regions (docs/reference/slowroll.md)');
  const token = process.env['CONVEYOR_SLOWROLL_TOKEN'] || undefined;
  const log = (line: string): void => void process.stderr.write(`${new Date().toISOString()} ${line}\n`);
  const isClosed = values.host === LOCAL_ADDRESS;
  if (!isClosed && token === undefined)
    throw new Error('without CONVEYOR_SLOWROLL_TOKEN it listens only on 127.0.0.1: every caller could deploy');
  const service = await openSlowrollService({
    ...{ settings: resolve(values.settings), home: resolve(values.home), prometheus: values.prometheus },
    ...{ token, env: process.env, log },
  });
  const { pushType, manifests, fleet, keyId, tls } = service;
  if (tls === undefined && values['hosts-address'] !== LOCAL_ADDRESS)
    log('warning: hosts send their tokens in plain HTTP: add tls to the settings, or put a proxy with TLS in front');
  // Without a token, a web page open on this machine could deploy too.
  const fetch = isClosed && token === undefined ? localOnly(pushType.fetch) : pushType.fetch;
  const secure = tls === undefined ? {} : { createServer: createTlsServer, serverOptions: tls };
  const where = { port: Number(values['hosts-port']), hostname: values['hosts-address'] };
  const ending = new AbortController();
  const servers = [serve({ fetch: manifests.fetch, ...where, ...secure }, announce)];
  function announce({ port: hostsPort }: { readonly port: number }): void {
    const scheme = tls === undefined ? 'http' : 'https';
    const known = `${fleet.hosts.table.count} hosts in ${[...fleet.units.keys()].join(', ')}`;
    const server = serve({ fetch, port: Number(values.port), hostname: values.host }, ({ port }) => {
      process.stdout.write(
        `slowroll ready on http://${values.host}:${port}, for hosts on ${scheme}://${where.hostname}:${hostsPort} (${known}; key ${keyId})\n`,
      );
    });
    server.on('error', failStart);
    servers.push(server);
  }
  for (const server of servers) server.on('error', failStart);
  const running = service.run(ending.signal);
  const end = (): void => {
    ending.abort();
    for (const server of servers) server.close();
    void running.finally(() => process.exit(0));
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
}

function failStart(error: Error): never {
  process.stderr.write(`error: ${error.message}\n`);
  process.exit(1);
}

startSlowroll().catch(failStart);
