import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { serve } from '@hono/node-server';
import { judgeTargets, localOnly, prometheusQuery } from '../../../sdk';
import { GateFleet } from './fleet';
import { gatekeeperPushType } from './pushType';
import { filesIn } from './store';

/** The push type as a process: `main.js [--port 4630] [--home FOLDER] [--projects FOLDER]`. It may be killed at any time. */

const HOST = '127.0.0.1';
const STEP_EVERY_MS = 250;

function main(): void {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4630' },
      home: { type: 'string', default: '.conveyor/gatekeeper' },
      projects: { type: 'string', default: 'examples/push-types/gatekeeper' },
    },
  });
  const home = resolve(values.home);
  mkdirSync(home, { recursive: true });
  const fleet = new GateFleet({ home, store: filesIn(resolve(values.projects)) });
  const query = prometheusQuery({ url: process.env['PROMETHEUS_URL'] ?? 'http://localhost:9090' });
  const app = gatekeeperPushType(fleet, (request) => judgeTargets({ ...request, query }));
  const server = serve({ fetch: localOnly(app.fetch), port: Number(values.port), hostname: HOST }, ({ port }) => {
    void keepStepping(fleet);
    console.log(`gatekeeper ready on http://${HOST}:${port}`);
  });
  server.on('error', (error) => {
    console.error(`error: ${error.message}`);
    process.exit(1);
  });
}

async function keepStepping(fleet: GateFleet): Promise<never> {
  for (;;) {
    for (const project of fleet.projects)
      await fleet.step(project).catch((error: unknown) => console.error(`${project}: ${String(error)}`));
    await delay(STEP_EVERY_MS);
  }
}

main();
