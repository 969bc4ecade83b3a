import { parseArgs } from 'node:util';
import { serve } from '@hono/node-server';
import { conveyorError, type ConveyorError } from '../domain/errors';
import { LOOPBACK_ADDRESS } from '../domain/loopback';
import { localOnly } from '../sdk/localOnly';
import { createSimulator } from './app';
import { SPEED_RANGE } from './simulation';

/**
 * The simulator as a process: `--port 4400 --seed 1 --speed 1`; without a port it takes that of CONVEYOR_SIMULATOR_URL.
 * It prints one line when it is ready and nothing after it.
 */

const DEFAULT_SIMULATOR_URL = 'http://localhost:4400';

/** How long calls in progress at SIGTERM may take. */
const SHUTDOWN_TIMEOUT_MS = 5000;

function startSimulator(): void {
  const { port, seed, speed } = readOptions();
  const hcs = process.env.CONVEYOR_HCS_URL;
  const healthService = hcs
    ? { url: hcs, ...(process.env.CONVEYOR_HCS_TOKEN && { token: process.env.CONVEYOR_HCS_TOKEN }) }
    : undefined;
  const { app } = createSimulator({ seed, speed, now: () => Date.now(), ...(healthService && { healthService }) });
  const server = serve(
    { fetch: localOnly(app.fetch), port, hostname: LOOPBACK_ADDRESS, overrideGlobalObjects: false },
    (address) => {
      console.log(`simulator ready on http://${LOOPBACK_ADDRESS}:${address.port} (seed ${seed}, speed ${speed})`);
    },
  );
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE') exitWithFailure(conveyorError('port-in-use', { port, process: 'the simulator' }));
    exitWithFailure(conveyorError('internal', { detail: error.message }));
  });
  const stop = (): void => {
    server.close(() => process.exit(0));
    if ('closeIdleConnections' in server) server.closeIdleConnections();
    setTimeout(() => process.exit(0), SHUTDOWN_TIMEOUT_MS).unref();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

function readOptions(): { port: number; seed: number; speed: number } {
  const options = {
    port: { type: 'string' },
    seed: { type: 'string', default: '1' },
    speed: { type: 'string', default: '1' },
  } as const;
  try {
    const { values } = parseArgs({ options });
    return {
      port: parseNumberOption('port', values.port ?? usualPort(), isPort),
      seed: parseNumberOption('seed', values.seed, Number.isInteger),
      speed: parseNumberOption('speed', values.speed, (value) => value >= SPEED_RANGE.min && value <= SPEED_RANGE.max),
    };
  } catch (error) {
    return exitWithFailure(
      conveyorError('usage', { text: (error as Error).message, hint: 'simulator [--port N] [--seed N] [--speed X]' }),
    );
  }
}

/** The port of the address at which the other processes look for it. */
function usualPort(): string {
  const url = process.env.CONVEYOR_SIMULATOR_URL || DEFAULT_SIMULATOR_URL;
  if (!URL.canParse(url)) throw new Error(`CONVEYOR_SIMULATOR_URL ${url} is not a URL`);
  return new URL(url).port || '80';
}

const isPort = (value: number): boolean => Number.isInteger(value) && value >= 0 && value < 65_536;

function parseNumberOption(name: string, text: string, valid: (value: number) => boolean): number {
  const value = Number(text);
  if (text.trim() !== '' && valid(value)) return value;
  throw new Error(`--${name} ${text} is not a valid ${name}`);
}

function exitWithFailure(error: ConveyorError): never {
  console.error(`error: ${error.code}: ${error.message}\nhint: ${error.hint}`);
  process.exit(error.exit);
}

startSimulator();
