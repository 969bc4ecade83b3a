import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import type { ClusterConnection } from '../../push-types/kubernetes/client/api';
import { connectCluster } from '../../push-types/kubernetes/client/connection';
import { parseKubeconfig } from '../../push-types/kubernetes/client/kubeconfig';
import { makeCertificates } from '../configerator/certificates';
import { ROOT } from '../setup/sources';
import { eventually } from '../system/waiting';

/** The executable of the control plane, if it was built here (scripts/control-plane.sh). */
export function findControlPlane(): string | undefined {
  const found = spawnSync('bash', [join(ROOT, 'scripts/control-plane.sh'), '--print-path'], { encoding: 'utf8' });
  return found.status === 0 ? found.stdout.trim() : undefined;
}

/** Left out: the controller of nodes, which would want leases of the fake kubelets. */
const CONTROLLERS = [
  ...['deployment', 'replicaset', 'statefulset', 'daemonset', 'disruption', 'garbage-collector', 'endpointslice'],
  ...['namespace', 'pod-garbage-collector'],
].map((name) => `${name}-controller`);

/** Users by their tokens: one who may do everything, and one without any right. */
const TOKENS = { admin: 'admins-token', stranger: 'strangers-token' };

/** etcd and the three servers of Kubernetes on free ports of this machine, with data that is lost in the end. */
export class RealControlPlane {
  private readonly folder = mkdtempSync(join(tmpdir(), 'conveyor-kubernetes-'));
  /** In the order of their start; they stop in the reverse one. */
  private readonly running: { readonly part: string; readonly child: ChildProcess }[] = [];
  private readonly connections: ClusterConnection[] = [];
  private readonly made = makeCertificates();
  private port = 0;

  private constructor(private readonly program: string) {}

  static async start(program: string): Promise<RealControlPlane> {
    const plane = new RealControlPlane(program);
    await plane.open();
    return plane;
  }

  /** A client of the administrator, or of a user without rights. */
  connect(user: keyof typeof TOKENS = 'admin'): ClusterConnection {
    const access = parseKubeconfig(this.kubeconfig(TOKENS[user]), { place: 'kubeconfig', folder: this.folder });
    const settings = { requestsPerSecond: 100_000, inFlight: 64, firstBackOffMs: 50, mostBackOffMs: 500 };
    const api = connectCluster(access, { settings });
    this.connections.push(api);
    return api;
  }

  async stop(): Promise<void> {
    for (const api of this.connections) api.close();
    for (const { part, child } of this.running.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      // The API server waits for open requests much longer than a test does.
      const timer = setTimeout(() => child.kill('SIGKILL'), part === 'kube-apiserver' ? 3_000 : 10_000);
      await ended;
      clearTimeout(timer);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async open(): Promise<void> {
    const [client = 0, peer = 0, port = 0] = await freePorts(3);
    this.port = port;
    this.prepareFiles();
    const file = (name: string): string => join(this.folder, name);
    const [clientUrl, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
    this.startPart('etcd', [
      ...['--data-dir', file('etcd'), '--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
      ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
      ...['--initial-cluster', `default=${peerUrl}`, '--unsafe-no-fsync', '--log-level', 'warn'],
    ]);
    this.startPart('kube-apiserver', [
      ...[`--etcd-servers=${clientUrl}`, '--bind-address=127.0.0.1', `--secure-port=${port}`],
      ...[`--cert-dir=${file('certs')}`, `--tls-cert-file=${this.made.files.cert}`],
      ...[`--tls-private-key-file=${this.made.files.key}`, `--client-ca-file=${this.made.files.ca}`],
      ...['--service-account-issuer=https://kubernetes.default.svc', `--service-account-key-file=${file('sa.pub')}`],
      ...[`--service-account-signing-key-file=${file('sa.key')}`, '--service-cluster-ip-range=10.96.0.0/16'],
      ...['--authorization-mode=RBAC', `--token-auth-file=${file('tokens.csv')}`],
      ...['--disable-admission-plugins=ServiceAccount', '--max-requests-inflight=2000'],
      '--max-mutating-requests-inflight=1000',
    ]);
    const api = this.connect();
    // The version is answered early, and a namespace of its own only once the server is ready.
    await this.await('the API server is ready', async () => {
      if ((await api.get({ kind: 'Namespace', name: 'shop' })) !== undefined) return true;
      await api.create('Namespace', { metadata: { name: 'shop' } });
      return true;
    });
    const speed = [
      `--kubeconfig=${file('kubeconfig')}`,
      '--leader-elect=false',
      '--kube-api-qps=1000',
      '--kube-api-burst=2000',
    ];
    this.startPart('kube-controller-manager', [
      ...[...speed, '--secure-port=0', `--controllers=${CONTROLLERS.join()}`],
      ...[`--service-account-private-key-file=${file('sa.key')}`, `--root-ca-file=${this.made.files.ca}`],
    ]);
    this.startPart('kube-scheduler', [...speed, '--secure-port=0']);
  }

  private prepareFiles(): void {
    const write = (name: string, text: string): void => writeFileSync(join(this.folder, name), text, { mode: 0o600 });
    const { publicKey, privateKey } = generateKeyPairSync('rsa', {
      ...{ modulusLength: 2048, publicKeyEncoding: { type: 'spki', format: 'pem' } },
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    });
    write('sa.pub', publicKey);
    write('sa.key', privateKey);
    write('tokens.csv', `${TOKENS.admin},admin,1,"system:masters"\n${TOKENS.stranger},stranger,2\n`);
    write('kubeconfig', this.kubeconfig(TOKENS.admin));
  }

  private kubeconfig(token: string): string {
    const server = `https://127.0.0.1:${this.port}`;
    return JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'real' },
      clusters: [{ name: 'real', cluster: { server, 'certificate-authority': this.made.files.ca } }],
      users: [{ name: 'user', user: { token } }],
      contexts: [{ name: 'real', context: { cluster: 'real', user: 'user' } }],
    });
  }

  private startPart(part: string, args: readonly string[]): void {
    const log = openSync(join(this.folder, `${part}.log`), 'a');
    const env = { PATH: process.env['PATH'] ?? '', HOME: this.folder };
    const child = spawn(this.program, [part, ...args], { stdio: ['ignore', log, log], env, cwd: this.folder });
    closeSync(log);
    this.running.push({ part, child });
  }

  /** Ends early, with the log, if a part has ended. */
  private async await(what: string, look: () => Promise<boolean>): Promise<void> {
    await eventually(what, async () => {
      const dead = this.running.find(({ child }) => child.exitCode !== null);
      return dead !== undefined || (await look());
    });
    const dead = this.running.find(({ child }) => child.exitCode !== null);
    if (dead) throw new Error(`${dead.part} has ended: ${this.readLog(dead.part).slice(-3_000)}`);
  }

  readLog(part: string): string {
    return readFileSync(join(this.folder, `${part}.log`), 'utf8');
  }
}
