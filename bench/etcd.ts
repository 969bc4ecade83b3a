import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../cli/stack/ports';

/** A real etcd of one member on its own ports; `stop` kills it and deletes its data. */
export async function startEtcd(): Promise<{ readonly url: string; stop(): void }> {
  const program = spawnSync('bash', [join(__dirname, '../scripts/etcd.sh')], { encoding: 'utf8' }).stdout.trim();
  const data = mkdtempSync(join(tmpdir(), 'conveyor-bench-etcd-'));
  const [port = 0, peerPort = 0] = await freePorts(2);
  const [url, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const child = spawn(
    program,
    [
      ...['--data-dir', data, '--log-level', 'error', '--logger', 'zap'],
      ...['--listen-client-urls', url, '--advertise-client-urls', url, '--listen-peer-urls', peer],
      ...['--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
    ],
    { stdio: 'ignore' },
  );
  for (let left = 100; left > 0 && !(await answers(url)); left -= 1) await delay(100);
  const stop = (): void => {
    child.once('exit', () => rmSync(data, { recursive: true, force: true }));
    child.kill('SIGKILL');
  };
  return { url, stop };
}

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
