import { createHash, generateKeyPairSync, verify } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import {
  hostManifestSchema,
  NO_VERSION,
  type Manifest,
  type ReportPackage,
  type TroubleCause,
} from '../../push-types/slowroll/protocol';
import { HostLog } from '../../push-types/slowroll/server/hostLog';
import { HostTokens } from '../../push-types/slowroll/server/hostTokens';
import { addManifestRoutes } from '../../push-types/slowroll/server/manifestServer';
import { PackageStore } from '../../push-types/slowroll/server/packageStore';
import { createSigner } from '../../push-types/slowroll/server/signManifest';
import { SlowrollFleet } from '../../push-types/slowroll/server/slowrollFleet';
import { slowrollPushType } from '../../push-types/slowroll/server/slowrollPushType';
import { settleUpdates } from '../../push-types/slowroll/server/trackDecision';
import { judgeTargets } from '../../sdk/health';
import { Memory } from '../../sdk/updates';

const VERSIONS = ['kv:1', 'new:1', 'new:2', 'older:1', 'dead:1'];
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const SILENCE_MS = 60 * 60_000;

/** A host as its agent behaves: it accepts a manifest by the rules of agents, and says so if it may not. */
export class PollingHost {
  etag = '';
  running: ReportPackage | undefined;
  serial = -1;
  generation = -1;
  readonly superseded = new Set<string>();
  readonly manifests: Manifest[] = [];
  isSilent = false;
  /** Whether it may refuse a manifest; otherwise a test fails. */
  mayRefuse = false;
  /** It can install nothing, for this cause, and tries again with each poll. */
  trouble: TroubleCause | undefined;
  private sent = '';
  private last: Manifest | undefined;
  private switches = 0;

  constructor(
    readonly name: string,
    readonly region: string,
    private readonly isDead: (version: string) => boolean,
  ) {}

  get version(): string {
    return this.running === undefined || this.running.state === 'removed' ? '' : this.running.version;
  }

  /** Polls once, and follows the manifest. @returns whether anything changed on it */
  async poll(app: Hono): Promise<boolean> {
    if (this.isSilent) return false;
    const state = JSON.stringify(this.running ? [this.running] : []);
    const query = new URLSearchParams();
    if (this.etag === '') query.set('labels', JSON.stringify({ region: this.region }));
    if (state !== this.sent) query.set('state', state);
    const headers = { authorization: `Bearer ${nameToken(this.name)}`, 'if-none-match': this.etag };
    const answer = await app.request(`/v1/hosts/${this.name}/manifest?${query.toString()}`, { headers });
    if (answer.status !== 200 && answer.status !== 304) throw new Error(`${answer.status}: ${await answer.text()}`);
    this.sent = state;
    this.etag = answer.headers.get('etag') ?? '';
    if (answer.status === 304)
      return this.last !== undefined && this.running?.trouble !== undefined && this.follow(this.last);
    const body = Buffer.from(await answer.arrayBuffer());
    const signature = (answer.headers.get('conveyor-signature') ?? '').split(':')[1] ?? '';
    if (!verify(null, body, publicKey, Buffer.from(signature, 'base64'))) throw new Error('the signature is wrong');
    return this.follow(hostManifestSchema.parse(JSON.parse(body.toString())));
  }

  /** The agent starts again and remembers nothing but what runs. */
  restart(): void {
    [this.etag, this.sent] = ['', ''];
  }

  private follow(manifest: Manifest): boolean {
    this.last = manifest;
    this.manifests.push(manifest);
    const [wanted] = manifest.packages;
    if (manifest.serial < this.serial && this.mayRefuse) return false;
    if (manifest.host !== this.name || manifest.serial < this.serial) throw new Error(`${this.name}: an old manifest`);
    this.serial = manifest.serial;
    if (wanted === undefined) return false;
    if (wanted.generation < this.generation) throw new Error(`${this.name}: an old generation`);
    const isNew = wanted.generation > this.generation;
    if (isNew && this.trouble !== undefined)
      return this.note(this.trouble, 'version' in wanted ? wanted.version : NO_VERSION);
    this.generation = wanted.generation;
    if ('remove' in wanted) {
      this.running = { name: wanted.name, version: NO_VERSION, identifier: NO_VERSION, state: 'removed' };
      return isNew;
    }
    if (wanted.version === this.version) return this.calm();
    if (!isNew) return false;
    if (this.superseded.has(wanted.version) && !wanted.revert)
      throw new Error(`${this.name} ran ${wanted.version} before ${this.version}, and the manifest has no revert`);
    this.switches += 1;
    const identifier = `${this.name}#${this.switches}`;
    const { name, version } = wanted;
    if (this.isDead(version) && this.running && this.version !== '') {
      const reason = 'its health check failed';
      this.calm();
      this.running = { ...this.running, identifier, state: 'rolled-back', failedVersion: version, reason };
      return true;
    }
    if (this.version !== '') this.superseded.add(this.version);
    this.superseded.delete(version);
    this.running = { name, version, identifier, state: 'installed' };
    return true;
  }

  /** @returns whether that is news */
  private note(cause: TroubleCause, version: string): boolean {
    const before = this.running ?? { name: 'kv', version: NO_VERSION, identifier: NO_VERSION, state: 'removed' };
    this.running = { ...before, trouble: { cause, version, reason: `${cause} here` } };
    return before.trouble?.cause !== cause || before.trouble.version !== version;
  }

  /** @returns whether it was in trouble before */
  private calm(): boolean {
    if (this.running?.trouble === undefined) return false;
    const { trouble: _, ...rest } = this.running;
    this.running = rest;
    return true;
  }
}

export const nameToken = (host: string): string => createHash('sha256').update(`token of ${host}`).digest('hex');

export interface PollingOptions {
  /** Hosts by region. */
  readonly sizes: Readonly<Record<string, number>>;
  readonly failures?: number;
  readonly isSticky?: boolean;
  readonly packageName?: string;
}

/** A real manifest server with its push type, and hosts that poll it; its process is stopped and begun anew by tests. */
export class PollingWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'conveyor-slowroll-'));
  readonly hosts: PollingHost[] = [];
  now = 1_700_000_000_000;
  /** By how much the clock of the server is wrong. */
  clockError = 0;
  fleet!: SlowrollFleet;
  app!: Hono;
  private log: HostLog | undefined;
  private nextHost = 0;

  private constructor(private readonly options: PollingOptions) {
    for (const version of VERSIONS) writeFileSync(join(this.folder, `${version}.tar.gz`), `the bytes of ${version}`);
  }

  static async open(options: PollingOptions): Promise<PollingWorld> {
    const world = new PollingWorld(options);
    await world.start();
    for (const [region, size] of Object.entries(options.sizes))
      for (let nth = 0; nth < size; nth += 1) world.join(region);
    await world.pollAll();
    return world;
  }

  /** The process begins, or begins anew after a crash. */
  async start(): Promise<void> {
    await this.log?.close();
    const memory = new Memory(join(this.folder, 'state.json'));
    const name = this.options.packageName ?? 'kv';
    this.fleet = new SlowrollFleet({
      ...{
        memory,
        now: () => this.now + this.clockError,
        elapsed: () => this.now,
        silenceMs: SILENCE_MS,
        regionLabel: 'region',
        mostHosts: 10_000,
      },
      ...{ regions: Object.keys(this.options.sizes), packages: [{ name, hosts: {} }] },
    });
    const log = await HostLog.open(join(this.folder, 'hosts.log'), this.fleet.hosts);
    this.log = log;
    const packages = [{ name, from: join(this.folder, '{version}.tar.gz') }];
    const store = new PackageStore({ packages, timeoutMs: 1000, known: (this.fleet.state.packages ??= {}) });
    this.app = slowrollPushType(this.fleet, {
      store,
      judge: (request) => judgeTargets({ ...request, query: () => Promise.resolve({ series: [] }) }),
      isSticky: () => this.options.isSticky ?? false,
      failures: () => this.options.failures ?? 0,
    });
    addManifestRoutes(this.app, this.fleet, {
      ...{ store, log, signer: createSigner(privateKey), pollAfterSeconds: 1800, settingsTag: 's' },
      tokens: () =>
        HostTokens.parse(this.hosts.map((one) => `${one.name} ${nameToken(one.name)}`).join('\n'), 'tokens'),
      commands: () => undefined,
    });
  }

  join(region: string): PollingHost {
    const host = new PollingHost(`${region}-${this.hosts.length + 1}`, region, (version) => version.startsWith('dead'));
    this.hosts.push(host);
    return host;
  }

  settleUpdates(): boolean {
    return settleUpdates(this.fleet, () => this.options.failures ?? 0);
  }

  /** One host polls, and polls again if it changed anything. */
  async pollHost(host: PollingHost): Promise<boolean> {
    this.now += 1000;
    const isChanged = await host.poll(this.app);
    if (isChanged) await host.poll(this.app);
    this.settleUpdates();
    return isChanged;
  }

  async pollAll(): Promise<boolean> {
    let isChanged = false;
    for (const host of this.hosts) isChanged = (await this.pollHost(host)) || isChanged;
    return isChanged;
  }

  /** Hosts poll, one after the other, until one has changed something. */
  async tick(): Promise<void> {
    for (let tries = 0; tries < this.hosts.length; tries += 1) {
      const host = this.hosts[this.nextHost % this.hosts.length];
      this.nextHost += 1;
      if (host !== undefined && (await this.pollHost(host))) return;
    }
  }

  async settle(): Promise<void> {
    for (let round = 0; round < 20 && (await this.pollAll()); round += 1);
  }

  versions(region?: string): string[] {
    return this.hosts.filter((host) => (region ?? host.region) === host.region).map(({ version }) => version);
  }

  async close(): Promise<void> {
    await this.log?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
