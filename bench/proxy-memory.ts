import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../cli/stack/ports';
import { blobId } from '../sdk/blobId';
import { EtcdStore } from '../configerator/store/etcd';
import { startEtcd } from './etcd';
import { each, print, run } from './stack';

/**
 * `npx jiti bench/proxy-memory.ts [paths] [bytes]`: the memory of the process `conveyor config-proxy` while it follows no path, and with each further
 * thousand, with values of that many bytes. It needs the compiled programs (`npm test` makes them).
 */
const PATHS = Number(process.argv[2] ?? 5000);
const BYTES = Number(process.argv[3] ?? 1000);

const R = 'bench';
const TOGETHER = 100;

async function main(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'conveyor-bench-proxy-'));
  const etcd = await startEtcd();
  const store = new EtcdStore({ url: etcd.url });
  const [port = 0] = await freePorts(1);
  const proxy = await spawnProxy(etcd.url, home, port);
  try {
    const rows: [string, string][] = [['no path', `${residentMb(proxy)} MB`]];
    for (let from = 0; from < PATHS; from += 1000) {
      const paths = Array.from({ length: Math.min(1000, PATHS - from) }, (_, at) => `team${from}/value${from + at}`);
      for (let at = 0; at < paths.length; at += TOGETHER)
        await commitPaths(store, from + at, paths.slice(at, at + TOGETHER));
      await each(paths, 20, async (path) => {
        const answer = await fetch(`http://127.0.0.1:${port}/v1/config/${path}`);
        if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      });
      rows.push([`${from + paths.length} paths of ${BYTES} bytes`, `${residentMb(proxy)} MB`]);
    }
    print(rows);
  } finally {
    proxy.kill('SIGKILL');
    etcd.stop();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

const commitPaths = (store: EtcdStore, before: number, paths: readonly string[]): Promise<unknown> => {
  const sequence = before / TOGETHER + 1;
  const value = 'x'.repeat(BYTES);
  const values = paths.map((path) => ({ path, value, version: blobId(value) }));
  return store.apply(R, { commit: `c${sequence}`, sequence, values });
};

async function spawnProxy(etcd: string, home: string, port: number): Promise<ChildProcess> {
  const flags = { repository: R, cache: join(home, 'cache'), etcd, host: 'h1', port: String(port) };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(process.execPath, [join(__dirname, '../dist/config/proxy/main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', (code) => reject(new Error(`the proxy ended with ${code}`)));
  });
  return child;
}

/** Its resident memory, as counted by the kernel. */
const residentMb = ({ pid }: ChildProcess): number => {
  const [, kb = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kb) / 1024);
};

run(main);
