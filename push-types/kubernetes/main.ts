import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { serve } from '@hono/node-server';
import { localOnly } from '../../sdk';
import { openKubernetesService } from './service';

/**
 * The push type for Kubernetes as a process: `main.js --clusters FILE [--port 4660] [--host ADDRESS] [--home FOLDER] [--prometheus URL]`. It may be killed at
 * any time: its desired state is in its home, and its records are on the objects of the clusters.
 */

const LOOPBACK_ADDRESS = '127.0.0.1';

function startKubernetes(): void {
  const { values } = parseArgs({
    options: {
      clusters: { type: 'string' },
      port: { type: 'string', default: '4660' },
      host: { type: 'string', default: LOOPBACK_ADDRESS },
      home: { type: 'string', default: '.conveyor/kubernetes' },
      prometheus: { type: 'string' },
    },
  });
  if (values.clusters === undefined)
    throw new Error('--clusters FILE is missing: it names the clusters (docs/reference/kubernetes.md)');
  const token = process.env['CONVEYOR_KUBERNETES_TOKEN'] || undefined;
  const isClosed = values.host === LOOPBACK_ADDRESS;
  if (!isClosed && token === undefined)
    throw new Error('without CONVEYOR_KUBERNETES_TOKEN it listens only on 127.0.0.1: every caller could deploy');
  const log = (line: string): void => void process.stderr.write(`${new Date().toISOString()} ${line}\n`);
  const ending = new AbortController();
  const service = openKubernetesService({
    ...{ clusters: resolve(values.clusters), home: resolve(values.home), prometheus: values.prometheus },
    ...{ token, env: process.env, log, signal: ending.signal },
  });
  // Without a token, a web page open on this machine could deploy too.
  const fetch = isClosed && token === undefined ? localOnly(service.app.fetch) : service.app.fetch;
  const server = serve({ fetch, port: Number(values.port), hostname: values.host }, ({ port }) => {
    process.stdout.write(
      `kubernetes ready on http://${values.host}:${port} (clusters ${service.clusters.join(', ')})\n`,
    );
  });
  server.on('error', endKubernetes);
  const running = service.run();
  const end = (): void => {
    ending.abort();
    server.close();
    void running.finally(() => process.exit(0));
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
}

function endKubernetes(error: unknown): never {
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

try {
  startKubernetes();
} catch (error) {
  endKubernetes(error);
}
