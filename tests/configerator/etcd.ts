import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import { tlsFetch } from '../../configerator/store/tlsFetch';
import { ROOT } from '../setup/sources';
import { makeCertificates, type Certificates } from './certificates';
import { eventually } from '../system/waiting';

/** The etcd of this machine; without one the tests that need it are skipped, and say so. */
const program = ((): string | undefined => {
  if (process.env['CONVEYOR_ETCD']) return process.env['CONVEYOR_ETCD'];
  const found = spawnSync('bash', [join(ROOT, 'scripts/etcd.sh'), '--print-path'], { encoding: 'utf8' });
  return found.status === 0 ? found.stdout.trim() : undefined;
})();

/** Its path; of tests that `describeWithEtcd` describes. */
export const etcdProgram = (): string => program ?? '';

/** `describe` where there is etcd, else a skip with its reason. */
export const describeWithEtcd: (name: string, tests: () => void) => void =
  program === undefined
    ? (name, tests) => {
        process.stderr.write(`skipped, since there is no etcd here (scripts/etcd.sh gets one): ${name}\n`);
        describe.skip(name, tests);
      }
    : describe;

/** One member on ports of its own; what it holds outlives its process. */
export class Etcd {
  private readonly data = mkdtempSync(join(tmpdir(), 'conveyor-etcd-'));
  private running: ChildProcess | undefined;

  private constructor(
    private readonly name: string,
    private readonly port: number,
    private readonly peer: number,
    /** `one=http://…,other=http://…` */
    private readonly cluster: string,
    private readonly args: readonly string[] = [],
    /** With which it is entered, where it asks for certificates. */
    readonly certificates?: Certificates,
  ) {}

  /** @param args more of its own flags, such as a quota */
  static async start(...args: string[]): Promise<Etcd> {
    const [port = 0, peer = 0] = await freePorts(2);
    const etcd = new Etcd('one', port, peer, `one=http://127.0.0.1:${peer}`, args);
    await etcd.start();
    return etcd;
  }

  /** One that speaks TLS, and asks clients for a certificate. */
  static async startTls(): Promise<Etcd> {
    const [port = 0, peer = 0] = await freePorts(2);
    const { files, certificates } = makeCertificates();
    const flags = ['--cert-file', files.cert, '--key-file', files.key, '--trusted-ca-file', files.ca];
    const cluster = `one=http://127.0.0.1:${peer}`;
    const etcd = new Etcd('one', port, peer, cluster, [...flags, '--client-cert-auth'], certificates);
    await etcd.start();
    return etcd;
  }

  /** A cluster that has no quorum once one of them is killed. */
  static async startTwo(): Promise<[Etcd, Etcd]> {
    const [port = 0, peer = 0, otherPort = 0, otherPeer = 0] = await freePorts(4);
    const cluster = `one=http://127.0.0.1:${peer},other=http://127.0.0.1:${otherPeer}`;
    const both: [Etcd, Etcd] = [new Etcd('one', port, peer, cluster), new Etcd('other', otherPort, otherPeer, cluster)];
    await Promise.all(both.map((etcd) => etcd.start()));
    return both;
  }

  get url(): string {
    return `http${this.certificates ? 's' : ''}://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const child = spawn(program ?? 'etcd', this.flags(), { stdio: ['ignore', 'ignore', 'pipe'] });
    this.running = child;
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => void (log = `${log}${chunk.toString()}`.slice(-4000)));
    await eventually('etcd answers', async () => {
      if (child.exitCode !== null) throw new Error(`etcd ended with ${child.exitCode}: ${log}`);
      return (await this.send(new Request(`${this.url}/health`, { signal: AbortSignal.timeout(1000) }))).ok;
    });
  }

  /** kill −9: its connections end in the middle of whatever they carried. */
  async kill(): Promise<void> {
    const child = this.running;
    this.running = undefined;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  /** The same member, with nothing of what it held. */
  async lose(): Promise<void> {
    await this.kill();
    rmSync(this.data, { recursive: true, force: true });
    await this.start();
  }

  /** Stands still, as behind a network that lost it. */
  freeze(): void {
    this.running?.kill('SIGSTOP');
  }

  thaw(): void {
    this.running?.kill('SIGCONT');
  }

  /** Forgets everything but the present state. */
  async compact(): Promise<void> {
    const { header } = (await this.ask('/v3/maintenance/status', {})) as { header: { revision: string } };
    await this.ask('/v3/kv/compaction', { revision: header.revision, physical: true });
  }

  /** As a person does by hand. */
  async put(key: string, value: string): Promise<void> {
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    await this.ask('/v3/kv/put', { key: base64(key), value: base64(value) });
  }

  async delete(key: string): Promise<void> {
    await this.ask('/v3/kv/deleterange', { key: Buffer.from(key).toString('base64') });
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.data, { recursive: true, force: true });
  }

  private async ask(path: string, body: object): Promise<unknown> {
    const response = await this.send(new Request(`${this.url}${path}`, { method: 'POST', body: JSON.stringify(body) }));
    return response.json();
  }

  private send(request: Request): Promise<Response> {
    return (this.certificates ? tlsFetch(this.certificates) : fetch)(request, { signal: request.signal });
  }

  private flags(): string[] {
    const peer = `http://127.0.0.1:${this.peer}`;
    return [
      ...['--name', this.name, '--data-dir', this.data, '--log-level', 'error', '--logger', 'zap'],
      ...['--listen-client-urls', this.url, '--advertise-client-urls', this.url],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', this.cluster],
      ...this.args,
    ];
  }
}
