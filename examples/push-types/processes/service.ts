import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The deployed service, one process for each copy: `node --env-file=versions/good-1.env service.js web-a/0@3`. It
 * greets, reports its version, and counts. It knows nothing about Conveyor; versions differ only in their settings.
 */
const { GREETING, FAIL_SHARE = '0', VERSION = '', RUN_FILE = '' } = process.env;
const [, , task = ''] = process.argv;
const HOST = '127.0.0.1';

let requests = 0;
let errors = 0;

const PAGES: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/': greet,
  '/livez': (response) => response.end(task),
  '/version': (response) => response.end(VERSION),
  '/metrics': (response) => response.setHeader('content-type', 'text/plain; version=0.0.4').end(metrics()),
};

function main(): void {
  if (!claim()) return;
  if (GREETING === undefined) throw new Error('GREETING is not set');
  const server = createServer((request, response) => {
    const page = PAGES[request.url ?? ''];
    if (page) page(response);
    else response.writeHead(404).end();
  });
  server.listen(0, HOST, () => say({ pid: process.pid, port: (server.address() as AddressInfo).port }));
  // Finishes the requests in progress, then ends.
  process.once('SIGTERM', () => {
    server.close(() => process.exit(0));
    server.closeIdleConnections();
  });
}

/** Fails a share of the requests, evenly spread: with 0.01, every hundredth. */
function greet(response: ServerResponse): void {
  requests += 1;
  if (requests * Number(FAIL_SHARE) < errors + 1) return void response.end(`${GREETING}\n`);
  errors += 1;
  response.writeHead(500).end('no\n');
}

/** Counters begin at 0, not with the first error: a series that does not exist yet is not good news. */
function metrics(): string {
  const lines = [
    '# TYPE http_requests_total counter',
    `http_requests_total ${requests}`,
    '# TYPE http_errors_total counter',
    `http_errors_total ${errors}`,
    '# TYPE process_resident_memory_bytes gauge',
    `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** If two processes were started for the same task, only the first continues. */
function claim(): boolean {
  const mine = `${RUN_FILE}.${process.pid}`;
  writeFileSync(mine, JSON.stringify({ pid: process.pid }));
  try {
    linkSync(mine, RUN_FILE);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(mine);
  }
}

/** Writes its address for the supervisor atomically. */
function say(where: { readonly pid: number; readonly port: number }): void {
  writeFileSync(`${RUN_FILE}.${process.pid}`, JSON.stringify(where));
  renameSync(`${RUN_FILE}.${process.pid}`, RUN_FILE);
}

main();
