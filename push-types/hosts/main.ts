import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { endProcess, OWN_ADDRESS, serveProcess } from '../serveProcess';
import { openHostsService } from './service';

/**
 * The push type for hosts as a process: `main.js --inventory FILE [--port 4640] [--host ADDRESS] [--home FOLDER] [--prometheus URL]`. It may be killed at
 * any time: its desired state is in its home, and the rest on the hosts.
 */

async function startHosts(): Promise<void> {
  const { values } = parseArgs({
    options: {
      inventory: { type: 'string' },
      port: { type: 'string', default: '4640' },
      host: { type: 'string', default: OWN_ADDRESS },
      home: { type: 'string', default: '.conveyor/hosts' },
      prometheus: { type: 'string' },
    },
  });
  const { inventory, host, port, home, prometheus } = values;
  if (inventory === undefined)
    throw new Error('--inventory FILE is missing: it names the hosts (docs/reference/hosts.md)');
  await serveProcess({
    ...{ name: 'hosts', host, port, tokenVariable: 'CONVEYOR_HOSTS_TOKEN' },
    open: async ({ token, log, signal }) => {
      const service = await openHostsService({
        ...{ inventory: resolve(inventory), home: resolve(home), prometheus },
        ...{ token, env: process.env, log },
      });
      const words = `${service.hosts} hosts in ${service.units.join(', ')}`;
      return { fetch: service.app.fetch, run: () => service.run(signal), words };
    },
  });
}

startHosts().catch(endProcess);
