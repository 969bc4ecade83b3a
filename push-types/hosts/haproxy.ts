import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Balancer } from './balancer';

/** haproxy by its runtime sockets: states and weights of servers. All processes in front of the hosts have to obey. */

export interface HaproxyOptions {
  /** Paths of sockets, or host:port. */
  readonly sockets: readonly string[];
  readonly backend: string;
  /** The name of a host's server. */
  readonly server: (host: string) => string;
}

const HAPROXY_ANSWER_MS = 3_000;
const SERVER_POLL_MS = 50;
const MOST_HAPROXY_ANSWER = 4 * 1024 * 1024;

export function createHaproxy({ sockets, backend, server }: HaproxyOptions): Balancer {
  const name = (host: string): string => `${backend}/${server(host)}`;
  const everywhere = (command: string): Promise<string[]> =>
    Promise.all(sockets.map((socket) => askHaproxy(socket, command)));
  const obey = async (command: string): Promise<void> => {
    // It answers a change that it made with nothing.
    const refusal = (await everywhere(command)).find((answer) => answer.trim() !== '');
    if (refusal !== undefined) throw new Error(`haproxy refuses ${command}: ${refusal.trim().slice(0, 200)}`);
  };
  const readAll = (): Promise<ServerRow[][]> =>
    Promise.all(sockets.map(async (socket) => parseServers(await askHaproxy(socket, 'show stat -1 4 -1'), backend)));
  const wait = async (host: string, timeoutMs: number, holds: (row: ServerRow) => boolean): Promise<boolean> => {
    for (const end = performance.now() + timeoutMs; ; await delay(SERVER_POLL_MS)) {
      const rows = (await readAll()).map((all) => all.find((row) => row.server === server(host)));
      if (rows.some((row) => row === undefined)) throw new Error(`haproxy has no server ${name(host)}`);
      if (rows.every((row) => row !== undefined && holds(row))) return true;
      if (performance.now() >= end) return false;
    }
  };
  return {
    drain: async (host, timeoutMs) => {
      await obey(`set server ${name(host)} state drain`);
      await wait(host, timeoutMs, ({ sessions }) => sessions === 0);
    },
    undrain: async (host, timeoutMs) => {
      await obey(`set server ${name(host)} state ready`);
      const isUp = await wait(host, timeoutMs, ({ status }) => status.startsWith('UP') || status === 'no check');
      if (!isUp && timeoutMs > 0) throw new Error(`haproxy does not call ${name(host)} up within ${timeoutMs} ms`);
    },
    listOut: async (hosts) => {
      const all = await readAll();
      const isUp = ({ status }: ServerRow): boolean => status.startsWith('UP') || status === 'no check';
      const up = all.map((rows) => new Set(rows.filter(isUp).map((row) => row.server)));
      return new Set(hosts.filter((host) => !up.every((servers) => servers.has(server(host)))));
    },
    setWeights: async (weights) => {
      for (const [host, weight] of weights) await obey(`set server ${name(host)} weight ${weight}`);
    },
  };
}

interface ServerRow {
  readonly server: string;
  readonly status: string;
  readonly sessions: number;
}

/** The servers of a backend in the table of `show stat`, by the names of its columns. */
function parseServers(table: string, backend: string): ServerRow[] {
  const [head = '', ...lines] = table.replace(/^# /, '').trim().split('\n');
  const columns = head.split(',');
  const [proxy, server, status, sessions] = ['pxname', 'svname', 'status', 'scur'].map((column) =>
    columns.indexOf(column),
  );
  if ([proxy, server, status, sessions].includes(-1))
    throw new Error(`haproxy answers no table: ${table.slice(0, 100)}`);
  return lines
    .map((line) => line.split(','))
    .filter((cells) => cells[proxy ?? 0] === backend)
    .map((cells) => ({
      server: cells[server ?? 0] ?? '',
      status: cells[status ?? 0] ?? '',
      sessions: Number(cells[sessions ?? 0]),
    }));
}

/** One command on one connection. @throws Error if it does not answer in time */
function askHaproxy(socket: string, command: string): Promise<string> {
  const [, host, port] = /^([^/]+):(\d+)$/.exec(socket) ?? [];
  return new Promise((resolve, reject) => {
    const connection = host === undefined ? connect(socket) : connect(Number(port), host);
    let text = '';
    connection
      .setEncoding('utf8')
      .setTimeout(HAPROXY_ANSWER_MS, () => connection.destroy(new Error(`haproxy at ${socket} does not answer`)))
      .on('connect', () => connection.write(`${command}\n`))
      .on('data', (chunk) => {
        text += String(chunk);
        if (text.length > MOST_HAPROXY_ANSWER)
          connection.destroy(new Error(`haproxy at ${socket} answers without end`));
      })
      .on('end', () => resolve(text))
      .on('error', reject);
  });
}
