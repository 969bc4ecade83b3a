import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { freePorts } from '../../cli/stack/ports';
import { SEARCH_ATTRIBUTES } from '../../domain/searchAttributes';
import { cleanEnv, ROOT, type Processes, type Running } from './process';
import { eventually } from './waiting';

interface Place {
  readonly home: string;
  readonly port: number;
  readonly data: string | 'memory';
}

/**
 * A Temporal server of a test's own, as `temporal-dev.sh` starts it; resolves once it is ready. It chooses more ports, and crashes
 * when somebody took one meanwhile: then it is started again, as `conveyor dev` does.
 */
export async function startTemporal(processes: Processes, place: Place, starts: number = 3): Promise<Running> {
  const { home, port, data } = place;
  const args = ['--headless', '--port', String(port), ...(data === 'memory' ? ['--ephemeral'] : ['--db', data])];
  const env = { ...cleanEnv(home), TEMPORAL_CLI: process.env['TEMPORAL_CLI'] ?? '' };
  const server = processes.start(join(ROOT, 'temporal-dev.sh'), args, env);
  try {
    await server.said(/^Temporal ready/m);
    return server;
  } catch (error) {
    if (starts === 1 || !/^panic: /m.test(server.stderr())) throw error;
    return startTemporal(processes, place, starts - 1);
  }
}

/** A history of this many events is called long; the first phase of a deploy makes more. */
const LONG_HISTORY = 30;

/** A Temporal server that wants histories to stay short, so that workflows continue as new early; its address. */
export async function startTemporalWithShortHistories(processes: Processes, home: string): Promise<string> {
  const [port = 0] = await freePorts(1);
  const kinds = { KEYWORD: 'Keyword', KEYWORD_LIST: 'KeywordList' };
  const config = [
    `limit.historyCount.suggestContinueAsNew=${LONG_HISTORY}`,
    'history.transferProcessorMaxPollRPS=2000',
    'history.timerProcessorMaxPollRPS=2000',
    'history.timerProcessorMaxTimeShift="1ms"',
  ];
  processes.start(
    process.env['TEMPORAL_CLI'] ?? '',
    [
      ...['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'never'],
      ...config.flatMap((value) => ['--dynamic-config-value', value]),
      ...Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, kind]) => ['--search-attribute', `${name}=${kinds[kind]}`]),
    ],
    cleanEnv(home),
  );
  const address = `127.0.0.1:${port}`;
  await eventually('the Temporal server answers', async () => {
    const connection = await Connection.connect({ address, connectTimeout: 500 });
    try {
      return await connection.workflowService.describeNamespace({ namespace: 'default' });
    } finally {
      await connection.close();
    }
  });
  return address;
}
