import { serve } from '@hono/node-server';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { conveyorError, ConveyorError } from '../../domain/errors';
import { claim } from '../../settings/claim';
import { localOnly } from '../../sdk/localOnly';
import { PACKAGES_FOLDER } from '../../sdk/modelDisk';
import { EtcdStore } from '../store/etcd';
import { createPeerClient } from '../vessel/peerClient';
import { pieceDiskIn } from '../vessel/disk';
import { listenForPeers } from '../vessel/listen';
import { Vessel } from '../vessel/vessel';
import { createProxyApp } from './app';
import { filesIn } from './files';
import { describeUnverified, readOptions } from './options';
import { ConfigProxy } from './proxy';

/** The proxy of a host as a process. It prints one line when ready, and notes for people on stderr. */

const HOST = '127.0.0.1';
const DRAIN_MS = 5000;

async function main(): Promise<void> {
  const { host, repository, cache, labels, port, place, mostBytes, ...options } = readOptions(
    process.argv.slice(2),
    process.env,
  );
  const log = (line: string): void => void process.stderr.write(`note: ${line}\n`);
  claimCache(cache, log);
  const store = new EtcdStore(options.store);
  const unverified = describeUnverified(options.store);
  if (unverified !== undefined) log(unverified);
  const now = (): number => Date.now();
  const vessel = new Vessel({
    ...{ host, repository, labels, store, log, now, mostBytes },
    disk: pieceDiskIn(join(cache, PACKAGES_FOLDER)),
    asking: createPeerClient(),
    onChange: (path) => proxy.acknowledge(path),
  });
  const proxy = new ConfigProxy({
    ...{ host, repository, labels, store, log, now },
    files: filesIn(cache),
    packages: vessel,
    isVerified: unverified === undefined,
  });
  await vessel.start();
  if (place) vessel.address = (await listenForPeers(vessel, place)).address;
  const cached = await proxy.start();
  const app = createProxyApp(proxy, { vessel });
  const server = serve({ fetch: localOnly(app.fetch), port, hostname: HOST, overrideGlobalObjects: false }, (at) => {
    process.stdout.write(`config-proxy ready at http://${HOST}:${at.port} (host ${host}, ${cached} cached)\n`);
  });
  server.on('error', (error: NodeJS.ErrnoException) =>
    giveUp(error.code === 'EADDRINUSE' ? conveyorError('port-in-use', { port, process: 'the config proxy' }) : error),
  );
  const stop = (): void => {
    app.end();
    vessel.close();
    server.close(() => void proxy.close().finally(() => process.exit(0)));
    if ('closeIdleConnections' in server) server.closeIdleConnections();
    setTimeout(() => process.exit(0), DRAIN_MS).unref();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

/** Two proxies would treat each other's files as damaged. A failing disk does not stop the proxy from serving. */
function claimCache(cache: string, log: (line: string) => void): void {
  try {
    mkdirSync(cache, { recursive: true });
    claim(join(cache, 'proxy.claim'), { what: `the cache ${cache}`, onLost: giveUp });
  } catch (error) {
    if (error instanceof ConveyorError) throw error;
    log(`the cache ${cache} cannot be locked against other proxies: ${String(error)}`);
  }
}

function giveUp(error: unknown): never {
  const known = error instanceof ConveyorError ? error : conveyorError('internal', { detail: String(error) });
  process.stderr.write(`error: ${known.code}: ${known.message}\nhint: ${known.hint}\n`);
  process.exit(known.exit);
}

main().catch(giveUp);
