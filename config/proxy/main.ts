import { serve } from '@hono/node-server';
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { conveyorError, ConveyorError } from '../../domain/errors';
import { localOnly } from '../../sdk/localOnly';
import { EtcdStore } from '../store/etcd';
import { createProxyApp } from './app';
import { filesIn } from './files';
import { ConfigProxy } from './proxy';

/** The proxy of a host as a process. One line when it is ready; on stderr what a person has to know. */

const HOST = '127.0.0.1';
const DRAIN_MS = 5000;
const HINT =
  'conveyor config-proxy --repository NAME --cache DIR --etcd URL [--host NAME] [--label KEY=VALUE …] [--port N]';

async function main(): Promise<void> {
  const { host, repository, cache, etcd, labels, port } = readOptions(process.argv.slice(2));
  const log = (line: string): void => void process.stderr.write(`note: ${line}\n`);
  const store = new EtcdStore({ url: etcd });
  const proxy = new ConfigProxy({
    ...{ host, repository, labels, store, log },
    files: filesIn(cache),
    now: () => Date.now(),
  });
  const cached = await proxy.start();
  const app = createProxyApp(proxy);
  const server = serve({ fetch: localOnly(app.fetch), port, hostname: HOST, overrideGlobalObjects: false }, (at) => {
    process.stdout.write(`config-proxy ready at http://${HOST}:${at.port} (host ${host}, ${cached} cached)\n`);
  });
  server.on('error', (error: NodeJS.ErrnoException) =>
    giveUp(error.code === 'EADDRINUSE' ? conveyorError('port-in-use', { port, process: 'the config proxy' }) : error),
  );
  const stop = (): void => {
    app.end();
    server.close(() => void proxy.close().finally(() => process.exit(0)));
    if ('closeIdleConnections' in server) server.closeIdleConnections();
    setTimeout(() => process.exit(0), DRAIN_MS).unref();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

const OPTIONS = {
  host: { type: 'string' },
  repository: { type: 'string' },
  cache: { type: 'string' },
  etcd: { type: 'string' },
  label: { type: 'string', multiple: true },
  port: { type: 'string', default: '4700' },
} as const;

function readOptions(args: readonly string[]) {
  const { host = hostname(), repository, cache, etcd, label = [], port: text } = parse(args);
  const port = Number(text);
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw usage(`--port ${text} is no port`);
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/.test(host)) throw usage(`--host ${host} is no name of a host`);
  if (repository === undefined) throw usage('--repository is missing');
  if (cache === undefined) throw usage('--cache is missing');
  if (etcd === undefined) throw usage('--etcd is missing');
  const wrong = etcd.split(',').find((url) => !/^https?:\/\/[^/]/.test(url.trim()) || !URL.canParse(url.trim()));
  if (wrong !== undefined) throw usage(`--etcd ${wrong} is no URL of http or https`);
  return { host, repository, cache, etcd, port, labels: Object.fromEntries(label.map(labelOf)) };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw usage((error as Error).message);
  }
}

function labelOf(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw usage(`--label ${text} is not KEY=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}

const usage = (text: string): ConveyorError => conveyorError('usage', { text, hint: HINT });

function giveUp(error: unknown): never {
  const known = error instanceof ConveyorError ? error : conveyorError('internal', { detail: String(error) });
  process.stderr.write(`error: ${known.code}: ${known.message}\nhint: ${known.hint}\n`);
  process.exit(known.exit);
}

main().catch(giveUp);
