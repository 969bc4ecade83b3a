import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { DefaultLogger, NativeConnection, Runtime, type LogLevel, type RuntimeOptions } from '@temporalio/worker';
import pino from 'pino';
import { wallClock } from '../activities/clock';
import { getFirstLine } from '../client/connection';
import { connectGrpc } from '../client/grpcConnection';
import { createPipelineIndex } from '../client/pipelineIndex';
import { createSealOptions } from '../client/seal';
import { ensureSweeps } from '../client/schedules';
import { temporalUnreachable } from '../client/unreachable';
import { WORKER_FINDERS } from '../domain/finder/standard';
import { ConveyorError, conveyorError } from '../domain/errors';
import { withoutIsolation } from '../domain/isolation';
import { createRunner, type Runner } from '../sandbox/runner';
import { openArchive } from '../archive/open';
import { LiveRegistry } from '../settings/liveRegistry';
import type { Registry } from '../settings/registry';
import { requireKeys } from '../settings/seal';
import { startArchiving } from './archiver';
import { buildOptions, WORKER_BUILD } from './build';
import { createWorker } from './createWorker';
import { ensureSchedules } from './features';
import { createLog } from './log';
import { createServerClock } from './serverClock';
import { explainListening, METRICS_ADDRESS, buildTelemetryOptions } from './telemetry';
import { openTracing } from './tracing';

/** `conveyor worker`: hosts workflows and activities until SIGTERM or Ctrl-C, then drains. Stateless: add more for more throughput. */
async function main(): Promise<void> {
  const log = installRuntime();
  const live = new LiveRegistry(process.env, (line) => log.warn(line), {
    atStart: ['seal', 'scripts', 'slots', 'archive'],
  });
  const registry = live.view();
  requireKeys(registry.seal, registry.file);
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({});
  const address = connectionOptions.address ?? 'localhost:7233';
  const taskQueue = process.env['CONVEYOR_TASK_QUEUE'] ?? 'conveyor';
  const build = process.env[WORKER_BUILD];
  const [connection, clientConnection] = await connect(address, connectionOptions);
  const client = new Client({ connection: clientConnection, namespace, ...createSealOptions(registry.seal) });
  const runner = createRunner(registry.scripts);
  const tracing = await openTracing(process.env);
  const serverClock = createServerClock(wallClock, Runtime.instance().metricMeter, log);
  const worker = await createWorker({
    connection,
    client,
    index: createPipelineIndex(client),
    runner,
    namespace,
    taskQueue,
    codePath: bundlePath(),
    registry,
    tracing,
    platform: () => registry,
    clock: serverClock,
    taskStarted: serverClock.taskStarted,
    options: buildOptions(build),
  });
  // A worker without sweeps still deploys; new artifacts then wait for a notification or for the next worker.
  const swept = () =>
    sweep(client, registry, taskQueue).catch((error: unknown) => log.error({ err: error }, 'no sweeps of finders'));
  const scheduled = () =>
    ensureSchedules(client, registry, taskQueue).catch((error: unknown) =>
      log.error({ err: error }, 'no Schedules of features, such as the daily run of tickets'),
    );
  await Promise.all([swept(), scheduled()]);
  live.onChange(() => void Promise.all([swept(), scheduled()]));
  const temporal = { client, connection: clientConnection, address, namespace, seal: registry.seal };
  const archiving =
    registry.archive &&
    startArchiving(temporal, taskQueue, await openArchive(registry.archive, process.env), registry.archive, log);
  // Called before the worker drains, after which it answers no run.
  for (const signal of SHUTDOWN_SIGNALS) process.once(signal, () => void archiving?.stop());
  if (registry.scripts.enabled) void logIsolation(runner, log);
  for (const warning of registry.warnings) log.warn({ file: registry.file }, warning);
  process.stdout.write(
    `conveyor worker ready: ${address}, namespace ${namespace}, task queue ${taskQueue}, ${build ? `build ${build}, ` : ''}extensions from ${registry.file}\n`,
  );
  await worker.run();
  await archiving?.stop();
  await tracing.close();
  await connection.close();
  await clientConnection.close();
  log.info('drained');
}

/** Tested when a worker starts, so that the first script does not wait for it. */
async function logIsolation(runner: Runner, log: pino.Logger): Promise<void> {
  const { missing, refused, ungrouped } = await runner.isolation();
  const lacks = withoutIsolation(missing);
  if (lacks === null) log.info('scripts are isolated');
  else
    log.warn(
      { missing, refused, ungrouped },
      `scripts are not isolated: ${lacks} (conveyor doctor says how to fix it)`,
    );
}

/** Schedules the sweeps of all configured finders, and of the workers' own. */
function sweep(client: Client, { extensions, settings }: Registry, taskQueue: string): Promise<void> {
  const services = extensions.filter(({ kind }) => kind === 'artifact-finder').map(({ name }) => name);
  return ensureSweeps(client, [...services, ...WORKER_FINDERS], {
    intervalMs: settings.sweepIntervalMs,
    jitterMs: settings.sweepJitterMs,
    heartbeatTimeoutMs: settings.heartbeatTimeoutMs,
    taskQueue,
  });
}

const SHUTDOWN_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Writes our log and Temporal's to stderr as JSON lines, and serves the metrics of both. */
function installRuntime(): pino.Logger {
  const log = createLog(process.env['CONVEYOR_LOG_LEVEL'] ?? 'info', pino.destination(2));
  const level = (name: LogLevel): pino.Level => name.toLowerCase() as pino.Level;
  const metrics = process.env[METRICS_ADDRESS];
  const options: RuntimeOptions = {
    logger: new DefaultLogger('INFO', ({ level: name, message, meta }) => log[level(name)](meta ?? {}, message)),
    shutdownSignals: [...SHUTDOWN_SIGNALS],
    ...buildTelemetryOptions(metrics),
  };
  explainListening(metrics, () => Runtime.install(options));
  return log;
}

async function connect(
  address: string,
  options: ReturnType<typeof loadClientConnectConfig>['connectionOptions'],
): Promise<[NativeConnection, Connection]> {
  try {
    return [await NativeConnection.connect({ ...options, address }), await connectGrpc({ ...options, address })];
  } catch (error) {
    throw await temporalUnreachable({ address, wantsTls: Boolean(options.tls) }, getFirstLine(error));
  }
}

function bundlePath(): string {
  const path = join(__dirname, '..', 'workflow-bundle.js');
  if (existsSync(path)) return path;
  throw conveyorError('file-unreadable', {
    file: path,
    detail: 'the workflow bundle is not built; npm run build makes it',
  });
}

main().catch((error: unknown) => {
  const known = error instanceof ConveyorError;
  process.stderr.write(
    known ? `error: ${error.code}: ${error.message}\nhint: ${error.hint}\n` : `error: internal: ${String(error)}\n`,
  );
  process.exit(known ? error.exit : 1);
});
