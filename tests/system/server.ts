import { join } from 'node:path';
import { cleanEnv, ROOT, type Processes, type Running } from './process';

/** A Temporal server of a test's own, as `temporal-dev.sh` starts it; resolves once it is ready. */
export async function startTemporal(
  processes: Processes,
  { home, port, data }: { readonly home: string; readonly port: number; readonly data: string | 'memory' },
): Promise<Running> {
  const args = ['--headless', '--port', String(port), ...(data === 'memory' ? ['--ephemeral'] : ['--db', data])];
  const env = { ...cleanEnv(home), TEMPORAL_CLI: process.env['TEMPORAL_CLI'] ?? '' };
  const server = processes.start(join(ROOT, 'temporal-dev.sh'), args, env);
  await server.said(/^Temporal ready/m);
  return server;
}
