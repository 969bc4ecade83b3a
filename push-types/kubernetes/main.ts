import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { endProcess, OWN_ADDRESS, serveProcess } from '../serveProcess';
import { openKubernetesService } from './service';

/**
 * The push type for Kubernetes as a process: `main.js --clusters FILE [--port 4660] [--host ADDRESS] [--home FOLDER] [--prometheus URL]`. It may be killed at
 * any time: its desired state is in its home, and its records are on the objects of the clusters.
 */

async function startKubernetes(): Promise<void> {
  const { values } = parseArgs({
    options: {
      clusters: { type: 'string' },
      port: { type: 'string', default: '4660' },
      host: { type: 'string', default: OWN_ADDRESS },
      home: { type: 'string', default: '.conveyor/kubernetes' },
      prometheus: { type: 'string' },
    },
  });
  const { clusters, host, port, home, prometheus } = values;
  if (clusters === undefined)
    throw new Error('--clusters FILE is missing: it names the clusters (docs/reference/kubernetes.md)');
  await serveProcess({
    ...{ name: 'kubernetes', host, port, tokenVariable: 'CONVEYOR_KUBERNETES_TOKEN' },
    open: ({ token, log, signal }) => {
      const service = openKubernetesService({
        ...{ clusters: resolve(clusters), home: resolve(home), prometheus },
        ...{ token, env: process.env, log, signal },
      });
      return { fetch: service.app.fetch, run: () => service.run(), words: `clusters ${service.clusters.join(', ')}` };
    },
  });
}

startKubernetes().catch(endProcess);
