import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { serve } from '@hono/node-server';
import { parse } from 'yaml';
import { judgeTargets, localOnly, prometheusQuery, remoteJudge, type Query } from '../../../sdk';
import { Copies } from './copies';
import { Fleet, fleetSchema } from './fleet';
import { processesPushType, type Judge } from './pushType';
import { callCopies } from './traffic';

/**
 * The push type as a process: `main.js [--port 4620] [--home FOLDER] [--fleet FILE] [--versions FOLDER]`. It may be killed at any time: its
 * unfinished work is recorded in its home, and the copies continue without it. `main.js stop` ends the copies, once this process has ended.
 */

const HOST = '127.0.0.1';
const STEP_EVERY_MS = 250;
const HERE = 'examples/push-types/processes';

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      port: { type: 'string', default: '4620' },
      home: { type: 'string', default: '.conveyor/processes' },
      fleet: { type: 'string', default: `${HERE}/fleet.yaml` },
      versions: { type: 'string', default: `${HERE}/versions` },
    },
  });
  const [home, versions] = [resolve(values.home), resolve(values.versions)];
  const options = { home, versions, program: join(__dirname, 'service.js') };
  const [verb = 'run'] = positionals;
  if (verb === 'stop') return void new Copies(options).stopAll().then(() => console.log('all copies are stopped'));
  if (verb !== 'run') throw new Error(`expected run or stop, not ${verb}`);
  const file = fleetSchema.parse(parse(readFileSync(values.fleet, 'utf8')));
  listen(new Fleet(file, options), Number(values.port));
}

function listen(fleet: Fleet, port: number): void {
  const app = processesPushType(fleet, judge(process.env));
  const server = serve({ fetch: localOnly(app.fetch), port, hostname: HOST }, (address) => {
    for (const unit of fleet.unitNames) void keepStepping(fleet, unit);
    callCopies(fleet);
    console.log(`processes ready on http://${HOST}:${address.port}`);
  });
  server.on('error', (error) => {
    console.error(`error: ${error.message}`);
    process.exit(1);
  });
}

async function keepStepping(fleet: Fleet, unit: string): Promise<never> {
  for (;;) {
    await fleet.step(unit).catch((error: unknown) => console.error(`${unit}: ${String(error)}`));
    await delay(STEP_EVERY_MS);
  }
}

/** The Health Check Service judges if there is one, else this process does, by the data of Prometheus. */
function judge(env: NodeJS.ProcessEnv): Judge {
  const { CONVEYOR_HCS_URL: hcs, CONVEYOR_HCS_TOKEN: token, PROMETHEUS_URL = 'http://localhost:9090' } = env;
  if (hcs) return remoteJudge({ url: hcs, source: 'prometheus', ...(token && { token }) });
  const prometheus = prometheusQuery({ url: PROMETHEUS_URL });
  const query: Query = async (asked, options) => {
    if ((options.source ?? 'prometheus') === 'prometheus') return prometheus(asked, options);
    throw new Error(`there is no data source ${options.source}, only prometheus`);
  };
  return (request) => judgeTargets({ ...request, query });
}

main();
