import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { freePorts } from '../../cli/stack/ports';
import { connectTemporal, type Temporal } from '../../client/connection';
import { landChange } from '../../client/landing';
import { createDraftFromValues, propose } from '../../configerator/repository/propose';
import { ConfigRepository } from '../../configerator/repository/repository';
import type { HostAcknowledgement } from '../../configerator/store/port';
import type { Artifact } from '../../domain/artifact';
import type { Landing } from '../../configerator/domain/landing';
import { pipelineSchema } from '../../domain/spec/pipeline';
import { listExposures } from '../../configerator/domain/subscriptions';
import type { DeployStatus } from '../../domain/views';
import { serveDataSource } from '../../sdk';
import { HOSTS_PROGRAM } from './configHosts';
import { Processes, ROOT, type Env, type Running } from './process';
import { startTemporal } from './server';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';
import type { WorldStore } from './worldStore';

const R = 'flags';

/** A host that reads one path; without an address its proxy runs in the process of its application. */
export interface HostSpec {
  readonly host: string;
  readonly region: string;
  readonly path: string;
  readonly url?: string;
}

/** The values that an application got: as `host value change-or-commit`. */
export interface Got {
  readonly host: string;
  readonly value: number;
  readonly of: string;
}

interface ProxyProcess {
  readonly args: readonly string[];
  readonly env: Env;
  running: Running | undefined;
}

/**
 * Configuration as users run it: a real git repository, etcd, worker and `conveyor config-service`, proxies and the applications that read them, and
 * a data source to which applications report their errors. A value above 1,000 makes half of the requests fail.
 */
export class ConfigWorld {
  private readonly applications: Running[] = [];
  private service: Running | undefined;
  private readonly proxies = new Map<string, ProxyProcess>();

  private constructor(
    readonly stack: Stack,
    private readonly store: WorldStore,
    private readonly servicePort: number,
    readonly repository: ConfigRepository,
    private readonly source: { readonly url: string; close(): void },
    private readonly temporal: Temporal,
    private readonly endTemporal: () => Promise<void>,
  ) {}

  static async open(store: WorldStore): Promise<ConfigWorld> {
    const [[port = 0, temporalPort = 0], source] = [await freePorts(2), await openSource()];
    // This world has its own Temporal server: the sweep of a finder belongs to a whole server.
    const [temporals, home] = [new Processes(), mkdtempSync(join(tmpdir(), 'conveyor-config-'))];
    await startTemporal(temporals, { home, port: temporalPort, data: 'memory' });
    const url = `http://127.0.0.1:${port}`;
    const extensions = [
      { name: 'config', kind: 'push-type', url: `${url}/push-types/config` },
      { name: 'config-changes', kind: 'artifact-finder', url: `${url}/artifact-finders/config-changes` },
      { name: 'applications', kind: 'data-source', url: source.url },
    ];
    const config = { repositories: { [R]: { git: './flags.git', etcd: store.settings } } };
    const settings = { sweepInterval: '1s', sweepJitter: '1ms', transient: '1s' };
    const address = `127.0.0.1:${temporalPort}`;
    const configured = { config: { extensions, config, freshness: {} }, settings, env: store.env };
    const stack = await Stack.open({ temporal: address, ...configured });
    const git = join(stack.home, 'flags.git');
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', git]);
    const repository = await ConfigRepository.open({ name: R, git, branch: 'main' }, join(stack.home, 'copy'));
    const temporal = await connectTemporal({ address });
    const endTemporal = async (): Promise<void> => {
      await temporal.connection.close();
      await temporals.reap();
      rmSync(home, { recursive: true, force: true });
    };
    await store.prepare?.(stack);
    const world = new ConfigWorld(stack, store, port, repository, source, temporal, endTemporal);
    await world.startService();
    return world;
  }

  async close(): Promise<void> {
    await this.stack.close();
    await this.endTemporal();
    await this.store.close();
    this.source.close();
  }

  async startService(): Promise<void> {
    this.service = this.serviceAt(this.servicePort);
    await this.service.said(/^config-service ready/m);
  }

  /** A second service, on the state of the first. */
  async secondService() {
    return { first: this.service?.pid, ...(await this.serviceAt(0).ended) };
  }

  private serviceAt(port: number): Running {
    const args = ['config-service', '--port', String(port), '--state', join(this.stack.home, 'state.json')];
    return this.stack.processes.node('bin/conveyor.js', args, this.stack.env);
  }

  /** Kills service and worker with −9, in the middle of their work; then others take over. */
  async crash(): Promise<void> {
    await Promise.all([this.killService(), this.stack.killWorker()]);
    await Promise.all([this.startService(), this.stack.startWorker()]);
  }

  async killService(): Promise<void> {
    this.service?.kill('SIGKILL');
    await this.service?.ended;
  }

  /** Hosts whose proxy is a separate process, `conveyor config-proxy`. */
  async proxied(count: number, region: string, path: string): Promise<HostSpec[]> {
    const ports = await freePorts(count);
    return Promise.all(
      ports.map(async (port) => {
        const host = `p${this.proxies.size + 1}`;
        this.proxies.set(host, { args: [], env: {}, running: undefined });
        const flags = {
          repository: R,
          cache: join(this.stack.home, host),
          host,
          port,
          label: `region=${region}`,
        };
        const { options, env } = this.store.proxy(host);
        const args = Object.entries({ ...flags, ...options }).flatMap(([name, value]) => [`--${name}`, String(value)]);
        this.proxies.set(host, { args, env, running: undefined });
        await this.startProxy(host);
        return { host, region, path, url: `http://127.0.0.1:${port}` };
      }),
    );
  }

  async startProxy(host: string): Promise<void> {
    const proxy = this.proxies.get(host);
    if (!proxy) throw new Error(`there is no proxy ${host}`);
    const env = { ...this.stack.env, ...proxy.env };
    proxy.running = this.stack.processes.node('dist/configerator/proxy/main.js', proxy.args, env);
    await proxy.running.said(/^config-proxy ready/m);
  }

  async killProxy(host: string): Promise<void> {
    const running = this.proxies.get(host)?.running;
    running?.kill('SIGKILL');
    await running?.ended;
  }

  /** Starts their applications, all in one process, and the proxies of hosts that have none. */
  async run(hosts: readonly HostSpec[]): Promise<void> {
    const program = this.stack.file(`hosts-${this.applications.length}.js`, HOSTS_PROGRAM);
    const given = {
      root: ROOT,
      etcd: this.store.settings,
      repository: R,
      home: this.stack.home,
      source: this.source.url,
      hosts,
    };
    const running = this.stack.processes.start(process.execPath, [program, JSON.stringify(given)], this.stack.env);
    await running.said(/^ready$/m);
    this.applications.push(running);
  }

  /** The values that applications got so far, in the order of each application. */
  got(): Got[] {
    return this.applications.flatMap((running) =>
      [...running.stdout().matchAll(/^(\S+) has (\d+) of (\S+)$/gm)].map(([, host = '', value, of = '']) => {
        return { host, value: Number(value), of };
      }),
    );
  }

  /** The present value of each application. */
  has(path: string): Promise<readonly HostAcknowledgement[]> {
    return this.store.enter().subscribers(R, path);
  }

  /** The exposed values of a path, by deploy. */
  async exposed(path: string) {
    return listExposures(await this.store.enter().overrides(R, path));
  }

  /** Resolves once this many hosts have a committed value, and no host has another. */
  allHave(count: number, path: string, value: number): Promise<void> {
    return eventually(`${count} hosts have ${value} of ${path}, committed`, async () => {
      const store = this.store.enter();
      const [stored, hosts] = [await store.read(R, path), await this.has(path)];
      const others = hosts.filter(({ version, revision }) => version !== stored?.version || revision !== null);
      if (stored?.value.trim() === String(value) && hosts.length === count && others.length === 0) return true;
      throw new Error(`${stored?.value}: ${hosts.length} hosts, not so ${JSON.stringify(others.slice(0, 3))}`);
    }).then(() => undefined);
  }

  async proposes(values: Readonly<Record<string, unknown>>): Promise<string> {
    const draft = await createDraftFromValues(this.repository, await this.repository.head(), values);
    const by = { author: OWNER, message: `Set ${Object.keys(values).join()}`, nowMs: Date.now() };
    return (await propose(this.repository, draft, by)).version;
  }

  /** Commits of the branch, oldest first, as the changes that they landed. */
  async landed(): Promise<(number | null)[]> {
    return (await this.repository.log(100)).map(({ change }) => change).reverse();
  }

  /** Lands a version through the landing strip, at once and without a deploy. Throws errors that are worth a retry. */
  lands(version: string): Promise<Landing> {
    const [change = '', commit = ''] = version.split('@');
    const place = { repository: R, taskQueue: this.stack.taskQueue, heartbeatTimeoutMs: 2000 };
    return landChange(this.temporal, place, { change: Number(change), commit });
  }

  /** A pipeline for a folder of configuration, which accepts every proposal there, or those of the given finder. */
  async pipeline(name: string, finder: object): Promise<void> {
    const owned = { repository: R, paths: [`${name}/`] };
    const deploy = {
      ...{ pushType: 'config', config: owned, healthInterval: '250ms' },
      phases: [{ name: 'first', scope: 'region:eu', amount: 10, bake: '2s' }],
      completion: { bake: '1s' },
      healthChecks: [
        {
          ...{ name: 'errors', metric: 'app.error_ratio', transform: [{ average: '1s' }] },
          ...{ threshold: { above: 0.05 }, minSamples: 2 },
        },
      ],
    };
    const spec = {
      ...{ pipeline: name, owners: [OWNER], artifacts: { limits: finder } },
      actions: { deploy: { type: 'deploy', inputs: ['limits'], with: deploy } },
    };
    await this.stack.client.apply(pipelineSchema.parse(spec), OWNER);
  }

  async releases(pipeline: string, version: string): Promise<string> {
    const artifact: Artifact = { name: 'limits', kind: 'config', version, metadata: {} };
    return (await this.stack.client.release(pipeline, [artifact], { kind: 'manual', actor: OWNER, key: null })).id;
  }

  deploy(release: string): Promise<DeployStatus> {
    return this.stack.client.status(`${release}/deploy`) as Promise<DeployStatus>;
  }

  reaches(release: string, what: string, holds: (deploy: DeployStatus) => boolean): Promise<DeployStatus> {
    return eventually(`the deploy of ${release} ${what}`, async () => {
      const deploy = await this.deploy(release);
      return holds(deploy) && deploy;
    });
  }

  /** Resolves once the deploy of a release has ended. */
  ended(release: string): Promise<DeployStatus> {
    return this.reaches(release, 'has ended', ({ endedAt }) => endedAt !== null);
  }
}

/** Applications report a ratio of errors under their own names; the source returns these reports. */
async function openSource(): Promise<{ readonly url: string; close(): void }> {
  const points = new Map<string, [number, number][]>();
  const app = new Hono();
  app.post('/report', async (c) => {
    for (const [task, ratio] of (await c.req.json()) as [string, number][]) {
      const known = points.get(task) ?? [];
      points.set(task, [...known.slice(-100), [Date.now(), ratio]]);
    }
    return c.json({});
  });
  app.mount(
    '/',
    serveDataSource('applications', {
      query: ({ selector: { tasks = [] }, start, end }) => ({
        series: tasks.map((task) => ({
          labels: { task },
          points: (points.get(task) ?? []).filter(([at]) => at >= start && at <= end),
        })),
      }),
    }).fetch,
  );
  return new Promise((resolve) => {
    const server = serve(
      { fetch: app.fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false },
      ({ port }) => resolve({ url: `http://127.0.0.1:${port}`, close: () => void server.close() }),
    );
  });
}
