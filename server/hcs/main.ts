import type { AddressInfo } from 'node:net';
import { createClient } from '../../client';
import { localNamesOnly } from '../../sdk/localOnly';
import { LiveRegistry } from '../../settings/liveRegistry';
import type { Registry } from '../../settings/registry';
import { createHealthService } from './app';
import { DRAIN_TIMEOUT_MS, exitWithError, isClosed, listen, readPlace } from '../listener';

/** The Health Check Service as a process: `--port 4600`. It prints one line when it is ready. */

const DEFAULT_HCS_URL = 'http://localhost:4600';

async function startHealthService(): Promise<void> {
  const url = process.env.CONVEYOR_HCS_URL || DEFAULT_HCS_URL;
  const place = readPlace(process.argv.slice(2), process.env, url, DEFAULT_HCS_URL);
  const live = new LiveRegistry(process.env, (line) => void process.stderr.write(`note: ${line}\n`), {
    atStart: ['seal'],
  });
  const registry = live.view();
  let sources = sourcesIn(registry);
  live.onChange((next) => (sources = sourcesIn(next)));
  const token = process.env.CONVEYOR_HCS_TOKEN;
  const past = { registry, connect: () => createClient({ platform: registry }), now: () => Date.now() };
  const app = createHealthService({
    sources: () => sources,
    past,
    configState: () => live.getState(),
    now: () => performance.now(),
    ...(token ? { token } : {}),
  });
  // Without a token, a web page open on this machine could query it too.
  const fetch = isClosed(place) && !token ? localNamesOnly(app.fetch) : app.fetch;
  const server = await listen({ fetch }, place, 'the Health Check Service');
  if (!isClosed(place) && !token)
    process.stderr.write(
      `note: it is open to other machines, at ${place.host}, and requires no token: set CONVEYOR_HCS_TOKEN\n`,
    );
  const names = sources.map(({ name }) => name).join(', ') || 'none';
  const at = `http://localhost:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`Health Check Service ready at ${at} (data sources: ${names})\n`);
  const end = (): void => {
    server.close(() => process.exit(0));
    if ('closeIdleConnections' in server) server.closeIdleConnections();
    setTimeout(() => process.exit(0), DRAIN_TIMEOUT_MS).unref();
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
}

const sourcesIn = ({ extensions }: Pick<Registry, 'extensions'>) =>
  extensions.filter(({ kind }) => kind === 'data-source');

startHealthService().catch(exitWithError);
