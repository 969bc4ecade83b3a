import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import { cleanEnv, ROOT, type Processes, type Running } from './process';

interface Place {
  readonly home: string;
  readonly port: number;
  readonly data: string | 'memory';
  /** Keys of the server's dynamic configuration, in addition to those of every server. */
  readonly settings?: readonly string[];
}

/**
 * A separate Temporal server for one test, started by `temporal-dev.sh`; resolves once it is ready. It chooses further
 * ports, and crashes if one is taken meanwhile: then it is started again, as `conveyor dev` does.
 */
export async function startTemporal(processes: Processes, place: Place, starts: number = 3): Promise<Running> {
  const { home, port, data, settings = [] } = place;
  const args = [
    ...['--headless', '--port', String(port), ...(data === 'memory' ? ['--ephemeral'] : ['--db', data])],
    ...settings.flatMap((setting) => ['--set', setting]),
  ];
  const env = { ...cleanEnv(home), TEMPORAL_CLI: process.env['CONVEYOR_TEST_TEMPORAL_CLI'] ?? '' };
  const server = processes.start(join(ROOT, 'temporal-dev.sh'), args, env);
  try {
    await server.said(/^Temporal ready/m);
    return server;
  } catch (error) {
    if (starts === 1 || !/^panic: /m.test(server.stderr())) throw error;
    return startTemporal(processes, place, starts - 1);
  }
}

/** A history of this many events counts as long; the first phase of a deploy makes more. */
const LONG_HISTORY = 30;

/** A Temporal server that keeps histories short, so that workflows continue as new early; resolves to its address. */
export async function startTemporalWithShortHistories(processes: Processes, home: string): Promise<string> {
  const [port = 0] = await freePorts(1);
  const settings = [`limit.historyCount.suggestContinueAsNew=${LONG_HISTORY}`];
  await startTemporal(processes, { home, port, data: 'memory', settings });
  return `127.0.0.1:${port}`;
}
