import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { connectTemporal } from '../../client/connection';
import { landChange } from '../../client/landing';
import { LandingQueue } from '../../client/landingQueue';
import { ConfigMemory } from '../../configerator/pushType/memory';
import type { Judge } from '../../configerator/pushType/pushType';
import { copiesFolder } from '../../configerator/repository/repository';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { claim } from '../../settings/claim';
import type { Env } from '../../settings/env';
import { LiveRegistry } from '../../settings/liveRegistry';
import { installRoot, type Registry } from '../../settings/registry';
import { requireKeys } from '../../settings/seal';
import { judgeTargets } from '../../sdk/health';
import { remoteJudge } from '../../sdk/health/remote';
import { sourcesQuery } from '../../sdk/health/sources';
import { localOnly } from '../../sdk/localOnly';
import { DRAIN_TIMEOUT_MS, exitWithError, isClosed, listen, readPlace } from '../listener';
import { Repositories } from './repositories';
import { createConfigService } from './service';

/** The configuration service as a process: `--port 4710 --state FILE`. It prints one line when it is ready. */

const DEFAULT_URL = 'http://localhost:4710';

async function startConfigService(): Promise<void> {
  const { env } = process;
  const { state, place } = readOptions(process.argv.slice(2), env);
  const log = (line: string): void => void process.stderr.write(`note: ${line}\n`);
  const live = new LiveRegistry(env, log, { atStart: ['seal', 'configRepositories'] });
  const registry = live.view();
  const seal = requireKeys(registry.seal, registry.file);
  const repositories = new Repositories(registry.configRepositories, registry.file, copiesFolder(env));
  if (repositories.names.length === 0) throw createNothingToServeError(registry);
  for (const name of repositories.unread) log(`config.repositories.${name} has no etcd, and is not served`);
  for (const name of repositories.unlocked)
    log(`the store of ${name} is open: any process that reaches it can change what hosts read (docs/guides/secure.md)`);
  for (const name of repositories.unsigned)
    log(
      `the values of ${name} are not signed: hosts trust the contents of the store until this service restores them from git (docs/guides/secure.md)`,
    );
  const temporal = await connectTemporal({ seal });
  const taskQueue = env.CONVEYOR_TASK_QUEUE || 'conveyor';
  const token = env.CONVEYOR_CONFIG_TOKEN;
  const landings = new LandingQueue(({ repository, ...request }) => {
    const { heartbeatTimeoutMs } = registry.settings;
    return landChange(temporal, { repository, taskQueue, heartbeatTimeoutMs }, request);
  });
  const service = createConfigService({
    ...{ repositories, log },
    memory: openMemory(state),
    judge: createJudge(registry, env),
    landings,
    land: (request) => landings.land(request),
    now: () => Date.now(),
    sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => undefined),
    configState: () => live.getState(),
    ...(token ? { token } : {}),
  });
  // Without a token, a web page open on this machine could deploy too.
  const fetch = isClosed(place) && !token ? localOnly(service.app.fetch) : service.app.fetch;
  const server = await listen({ fetch }, place, 'the configuration service');
  if (!isClosed(place) && !token)
    log(`it is open to other machines, at ${place.host}, and requires no token: set CONVEYOR_CONFIG_TOKEN`);
  const ending = new AbortController();
  const running = service.run(ending.signal);
  const at = `http://localhost:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`config-service ready at ${at} (repositories: ${repositories.names.join(', ')})\n`);
  const end = (): void => {
    ending.abort();
    server.close(() => void running.then(() => temporal.connection.close()).finally(() => process.exit(0)));
    if ('closeIdleConnections' in server) server.closeIdleConnections();
    setTimeout(() => process.exit(0), DRAIN_TIMEOUT_MS).unref();
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
}

function readOptions(args: readonly string[], env: NodeJS.ProcessEnv) {
  const options = { port: { type: 'string' }, host: { type: 'string' }, state: { type: 'string' } } as const;
  const { state, ...rest } = parseArgs({ args: [...args], options }).values;
  const placed = Object.entries(rest).flatMap(([name, value]) => [`--${name}`, value]);
  const url = env['CONVEYOR_CONFIG_SERVICE_URL'] || DEFAULT_URL;
  return {
    state: resolve(state ?? join(installRoot(), '.conveyor', 'config', 'service.json')),
    place: readPlace(placed, env, url, DEFAULT_URL),
  };
}

/** @throws ConveyorError `file-unreadable`, `files-in-use` */
function openMemory(file: string): ConfigMemory {
  try {
    mkdirSync(dirname(file), { recursive: true });
    // Two services would overwrite each other's state.
    claim(`${file}.claim`, { what: `the state ${file}`, onLost: exitWithError });
    return new ConfigMemory(file);
  } catch (error) {
    if (error instanceof ConveyorError) throw error;
    throw conveyorError('file-unreadable', { file, detail: (error as Error).message });
  }
}

/** Uses the Health Check Service if there is one, else the data sources of the configuration. */
function createJudge(registry: Pick<Registry, 'extensions'>, env: Env): Judge {
  const { CONVEYOR_HCS_URL: url, CONVEYOR_HCS_TOKEN: token } = env;
  if (url) return remoteJudge({ url, ...(token ? { token } : {}) });
  return (request, { context }) => {
    const sources = registry.extensions.filter(({ kind }) => kind === 'data-source');
    return judgeTargets({ ...request, query: sourcesQuery(sources)(context, undefined) });
  };
}

const createNothingToServeError = ({ file }: Pick<Registry, 'file'>): Error =>
  conveyorError('config-invalid', {
    file,
    detail: 'config.repositories names no repository with an etcd, so there is nothing to serve',
  });

startConfigService().catch(exitWithError);
