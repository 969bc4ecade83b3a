import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import { callExtension } from '../../sdk/client';
import type { RequestInput, ResponseOf } from '../../sdk/protocol/common';
import { pushTypeProtocol, type PushTypeProtocol } from '../../sdk/protocol/pushType';
import { cleanEnv, ROOT, type Processes, type Running } from './process';
import { eventually } from './waiting';

export const EXAMPLE = 'examples/push-types/processes';
const MAIN = `dist/${EXAMPLE}/main.js`;

/** The lines that the README of the example tells users to type. */
export const typedLines = (): string[] => {
  const readme = readFileSync(join(ROOT, EXAMPLE, 'README.md'), 'utf8');
  return [...readme.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, block = '']) => block.trim().split('\n'));
};

/** The identity that one process of the service reports. */
export interface SeenCopy {
  readonly task: string;
  readonly version: string;
  readonly pid: number;
}

/** The push type of examples/push-types/processes as users run it, in its own folder and on its own port. */
export class ProcessesExample {
  readonly home = mkdtempSync(join(tmpdir(), 'conveyor-processes-'));
  private running: Running | undefined;

  private constructor(
    private readonly processes: Processes,
    readonly port: number,
    private readonly prometheusPort: number,
  ) {}

  static async open(processes: Processes): Promise<ProcessesExample> {
    const [port = 0, prometheusPort = 0] = await freePorts(2);
    const example = new ProcessesExample(processes, port, prometheusPort);
    await example.start();
    return example;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get prometheusUrl(): string {
    return `http://127.0.0.1:${this.prometheusPort}`;
  }

  async start(): Promise<void> {
    const env = { ...cleanEnv(this.home), PROMETHEUS_URL: this.prometheusUrl };
    this.running = this.processes.node(MAIN, ['--port', String(this.port), '--home', this.home], env);
    await this.running.said(/^processes ready/m);
  }

  /** kill −9: the push type cannot report or save anything. Its copies continue. */
  async kill(): Promise<void> {
    this.running?.kill('SIGKILL');
    await this.running?.ended;
  }

  /** Prometheus with the configuration of the example, which reads the targets of this one. */
  async startPrometheus(program: string): Promise<Running> {
    const config = readFileSync(join(ROOT, EXAMPLE, 'prometheus.yaml'), 'utf8');
    const file = join(this.home, 'prometheus.yaml');
    writeFileSync(file, config.replace(/\[[^\]]*targets\.json\]/, JSON.stringify([join(this.home, 'targets.json')])));
    const server = this.processes.start(
      program,
      [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(this.home, 'prometheus')}`,
        `--web.listen-address=127.0.0.1:${this.prometheusPort}`,
      ],
      cleanEnv(this.home),
    );
    await eventually('Prometheus is ready', async () => (await fetch(`${this.prometheusUrl}/-/ready`)).ok);
    return server;
  }

  /** How many tasks Prometheus scrapes at present. */
  async scraped(): Promise<number> {
    const response = await fetch(`${this.prometheusUrl}/api/v1/query?query=up%20%3D%3D%201`);
    return ((await response.json()) as { data: { result: unknown[] } }).data.result.length;
  }

  /** The running processes, each queried directly. */
  async copies(): Promise<SeenCopy[]> {
    const folder = join(this.home, 'run');
    const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
    return Promise.all(
      files.map(async (file) => {
        const { pid, port } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { pid: number; port: number };
        const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
        return { task: await ask('/livez'), version: await ask('/version'), pid };
      }),
    );
  }

  /** Brings all copies of a unit to a version, with the requests that Conveyor would send. */
  update(updateId: string, unit: string, version: string): Promise<unknown> {
    const targets = [{ unit, version, artifacts: [], amount: { all: true } as const }];
    return this.ask('executeUpdates', { updateId, targets, wholeUnit: false, urgency: 'normal' });
  }

  async isDone(updateId: string): Promise<boolean> {
    const { units } = await this.ask('trackUpdates', { updateId });
    return units.every(({ state }) => state === 'done');
  }

  /** The numbers of all processes of this folder's service, even if the push type does not know them. */
  everyProcess(): number[] {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map(Number).filter((pid) => environmentOf(pid).includes(`RUN_FILE=${this.home}/`));
  }

  /** The tasks that Prometheus scrapes. */
  targets(): string[] {
    const groups = JSON.parse(readFileSync(join(this.home, 'targets.json'), 'utf8')) as { labels: { task: string } }[];
    return groups.map(({ labels }) => labels.task);
  }

  private ask<M extends 'executeUpdates' | 'trackUpdates'>(
    method: M,
    request: RequestInput<PushTypeProtocol[M]>,
  ): Promise<ResponseOf<PushTypeProtocol[M]>> {
    const config = { units: ['web-a', 'web-b'] };
    return callExtension({
      service: { name: 'processes', url: this.url, timeoutMs: 5_000 },
      ...{ protocol: pushTypeProtocol, method, request, key: 'test' },
      context: { pipeline: 'web', release: 1, deployId: 'deploy/web/1/deploy/1', actor: 'user:alice', config },
    });
  }

  async close(): Promise<void> {
    await this.kill();
    const { code, stderr } = await this.processes.node(MAIN, ['stop', '--home', this.home], cleanEnv(this.home)).ended;
    if (code !== 0) throw new Error(`the copies could not be stopped: ${stderr}`);
    rmSync(this.home, { recursive: true, force: true });
  }
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return ''; // it has ended, or belongs to another user
  }
}

/** The Prometheus of this machine, if there is one. */
export function findPrometheus(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const onPath = (env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'prometheus'));
  return [env['PROMETHEUS_BIN'], ...onPath, '/usr/bin/prometheus'].find(
    (file) => file !== undefined && existsSync(file),
  );
}
