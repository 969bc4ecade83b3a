import { randomUUID } from 'node:crypto';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Rerun } from '../../client/api';
import { rerunRelease } from '../../client/releases';
import { signRequest, createSealOptions } from '../../client/seal';
import { Workflows } from '../../client/workflows';
import { isInRange } from '../../sdk/versions';
import type { Artifact } from '../../domain/artifact';
import { workflowIds } from '../../domain/ids';
import { SEARCH_ATTRIBUTES } from '../../domain/searchAttributes';
import { DEFAULT_SETTINGS, type Settings } from '../../domain/settings';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import type { CommandInput, CommandReceipt, Verb } from '../../domain/verbs';
import type { DeployStatus, PipelineStatus, ReleaseStatus, Trigger } from '../../domain/views';
import { viaApp } from '../../sdk/client';
import type { PlatformFacts } from '../../domain/access/platform';
import { parseRegistry, type Registry } from '../../settings/registry';
import type { SealSettings } from '../../settings/seal';
import { createSimulator, type Simulator } from '../../simulator/app';
import { createRunner } from '../../sandbox/runner';
import { createWorker, type ConveyorWorker } from '../../workers/createWorker';
import type { ApplyOutcome, StartResult, StartInput, SubmitResult } from '../../workflows/messages';
import { lostTasks } from './lostTasks';
import { MemoryIndex } from './memoryIndex';
import { Messages } from './messages';
import { SlowActions } from './slowActions';
import { openWorkflows } from './openWorkflows';
import { VirtualTime } from './virtualTime';

// Failing activities are part of most tests, so the worker's logs about them are suppressed.
Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
});

/**
 * All of Conveyor in virtual time: real workflows and activities on the time-skipping server, with the simulator
 * embedded and on the same clock. Its checkers run throughout; `close` fails on any violation.
 */
export class VirtualWorld {
  /** Names of pipelines. */
  private readonly applied = new Set<string>();

  private constructor(
    private readonly env: TestWorkflowEnvironment,
    private readonly time: VirtualTime,
    readonly client: Client,
    readonly simulator: Simulator,
    private readonly worker: ConveyorWorker,
    private readonly running: Promise<void>,
    readonly taskQueue: string,
    private readonly index: MemoryIndex,
    private readonly seal: SealSettings | null,
    /** Actions that take as long as a test decides. */
    readonly slow: SlowActions,
    /** The present permissions in the worker's configuration. */
    readonly rules: { facts: PlatformFacts },
    /** The messages of its activities to workflows. */
    readonly messages: Messages,
  ) {}

  static async open(
    seed = 1,
    codePath = process.env['CONVEYOR_TEST_BUNDLE'] ?? '',
    seal: SealSettings | null = process.env['CONVEYOR_TEST_SEALED'] === '1' ? SEAL : null,
    configRepositories: Registry['configRepositories'] = [],
    /** Action services with these names are slow ones. */
    slowServices: readonly string[] = [],
  ): Promise<VirtualWorld> {
    const env = await startServer();
    await registerSearchAttributes(env);
    const messages = new Messages(() => time.clock);
    const client = new Client({
      connection: env.connection,
      interceptors: { workflow: [messages.interceptor] },
      ...createSealOptions(seal),
    });
    const time: VirtualTime = new VirtualTime(env, client);
    const { clock } = time;
    const simulator = createSimulator({ seed, speed: 1, now: clock.now, sleep: (ms) => clock.sleep(ms) });
    const taskQueue = `virtual-${randomUUID()}`;
    const index = new MemoryIndex(client);
    const slow = new SlowActions(clock, simulator.simulation);
    const registry = {
      ...parseRegistry(extensionsWith(slowServices), { PATH: process.env['PATH'] }),
      seal,
      configRepositories,
    };
    const rules: VirtualWorld['rules'] = { facts: { policy: null, groups: {} } };
    const worker = await createWorker({
      connection: env.nativeConnection,
      client,
      index,
      namespace: 'default',
      taskQueue,
      codePath,
      registry,
      runner: createRunner(registry.scripts, () => Promise.resolve(NOT_APART)),
      platform: () => rules.facts,
      clock,
      // Days of virtual time would pass second by second.
      stays: 0,
      // Looked up on each call, so that a test may intercept it.
      fetch: viaApp(slow.app.all('*', ({ req }) => simulator.app.fetch(req.raw)).onError(thrown)),
      options: {
        maxHeartbeatThrottleInterval: '1ms',
        shutdownForceTime: '2s',
        // Workflows run in this thread: a separate thread for each world costs more than most stories do.
        debugMode: true,
        interceptors: { activity: [time.interceptor] },
      },
    });
    time.watch(worker);
    const running = worker.run();
    const parts = [
      env,
      time,
      client,
      simulator,
      worker,
      running,
      taskQueue,
      index,
      seal,
      slow,
      rules,
      messages,
    ] as const;
    const world = new VirtualWorld(...parts);
    OPEN.add(world);
    return world;
  }

  /** With the fleet of `kvstore()` (pipelines.ts): two regions of six tasks each. */
  static async ofKvstore(seal?: SealSettings, codePath?: string): Promise<VirtualWorld> {
    const world = await VirtualWorld.open(1, codePath, seal);
    await world.job('kvstore-x', 'x', 6);
    await world.job('kvstore-y', 'y', 6);
    return world;
  }

  /** The tasks that the test server has lost, for tests/setup/virtualEnvironment.js. */
  lostTasks(): Promise<string[]> {
    const received = (runId: string, activityId: string) => this.time.received(runId, activityId);
    const runs = (runId: string, activityId: string) => this.time.runs(runId, activityId);
    return lostTasks(this.client, this.worker, { taskQueue: this.taskQueue, received, runs }, () => this.now());
  }

  /**
   * Stops everything; fails if a checker found a violation of ARCHITECTURE.md#invariants. Jest closes the world of a
   * test again if it did not repeat the test.
   */
  async close(): Promise<void> {
    if (!OPEN.delete(this)) return;
    const violations = await this.control<unknown[]>('GET', '/control/violations');
    this.worker.shutdown();
    await this.running.catch(() => undefined);
    await this.time.end();
    await this.env.teardown();
    expect(violations).toEqual([]);
  }

  async control<T>(method: string, path: string, body?: unknown): Promise<T> {
    const init =
      body === undefined
        ? { method }
        : { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await this.simulator.app.request(path, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text || 'null') as T;
  }

  job(name: string, region: string, tasks: number, more: object = {}): Promise<unknown> {
    return this.control('POST', '/control/jobs', {
      name,
      service: 'kvstore',
      region,
      tasks,
      version: 'kv:1',
      nSmall: 10,
      budget: '50%',
      timings: FAST,
      ...more,
    });
  }

  jobs(): Promise<JobView[]> {
    return this.control('GET', '/control/jobs');
  }

  describeVersion(version: string, behaviour: object): Promise<unknown> {
    return this.control('POST', '/control/versions', { version, behaviour });
  }

  now(): Promise<number> {
    return this.time.now();
  }

  /** Call it before a reaction to the latest state. */
  settled(): Promise<void> {
    return this.time.settled();
  }

  /**
   * Sleeps a little longer than asked, so that operations that began just before and take as long have ended, and the test's next step does not cross
   * with their end. The server loses a workflow task during which a timer fires that it cancels (lostTasks.ts).
   */
  sleep(ms: number): Promise<void> {
    return this.time.sleep(ms + SETTLE_MS);
  }

  async apply(source: PipelineSource, settings: Partial<Settings> = {}, actor = 'user:alice'): Promise<ApplyOutcome> {
    const spec = pipelineSchema.parse(source);
    this.applied.add(spec.pipeline);
    this.index.add(spec, await this.now());
    const handle = await this.client.workflow.signalWithStart('pipeline', {
      workflowId: workflowIds.pipeline(spec.pipeline),
      taskQueue: this.taskQueue,
      args: [null],
      signal: 'hello',
      signalArgs: [],
    });
    return this.update(handle, 'apply', { spec, groups: {}, settings: { ...VIRTUAL_SETTINGS, ...settings }, actor });
  }

  async release(pipeline: string, version: string, actor = 'user:alice'): Promise<StartResult> {
    const trigger: Trigger = { kind: 'manual', actor, key: null };
    return this.start(pipeline, { artifacts: [executable(version)], trigger });
  }

  /** As `release`, with any artifacts and any trigger. */
  start(pipeline: string, input: Partial<StartInput> = {}): Promise<StartResult> {
    const trigger: Trigger = { kind: 'manual', actor: 'user:alice', key: null };
    return this.update(this.pipeline(pipeline), 'start-release', { artifacts: [], trigger, ...input });
  }

  /** As `conveyor rerun` does. */
  rerun(pipeline: string, of: number, given: Partial<Rerun> = {}) {
    return rerunRelease(this.workflows(), pipeline, of, { actor: 'user:alice', ...given });
  }

  /** The workflows, through the client. */
  workflows(): Workflows {
    const temporal = { client: this.client, connection: this.env.connection, address: 'virtual', namespace: 'default' };
    return new Workflows({ ...temporal, seal: this.seal }, '', isInRange);
  }

  /** Calls of a client that only reaches Temporal. */
  stranger(): Client {
    return new Client({ connection: this.env.connection });
  }

  /** The artifacts of a finder, or a webhook. */
  submit(
    pipeline: string,
    artifacts: readonly Artifact[],
    key: string | null = null,
    kind: 'finder' | 'webhook' = 'finder',
  ): Promise<SubmitResult> {
    const trigger: Trigger = { kind, actor: 'service:conveyor', key };
    return this.update(this.pipeline(pipeline), 'submit', { artifacts, trigger });
  }

  /** An emergency push of one version. */
  push(pipeline: string, version: string, { action = 'deploy', skipBake = false } = {}): Promise<StartResult> {
    const trigger: Trigger = { kind: 'emergency', actor: 'user:alice', key: null, reason: 'outage' };
    return this.start(pipeline, { artifacts: [executable(version)], trigger, emergency: { action, skipBake } });
  }

  pick(pipeline: string, release: number, input: CommandInput = {}): Promise<CommandReceipt> {
    return this.command(workflowIds.release(pipeline, release), 'pick', {
      ...{ action: 'approve', approve: true },
      ...input,
    });
  }

  rollBack(pipeline: string, of: number, input: CommandInput): Promise<StartResult> {
    return this.update(this.pipeline(pipeline), 'roll-back', { of, ...input });
  }

  async command(workflowId: string, verb: Verb, input: CommandInput = {}): Promise<CommandReceipt> {
    await this.settled();
    return this.update(this.client.workflow.getHandle(workflowId), verb, {
      actor: 'user:alice',
      reason: 'a test says so',
      ...input,
    });
  }

  pipeline(name: string): WorkflowHandle {
    return this.client.workflow.getHandle(workflowIds.pipeline(name));
  }

  deployStatus(pipeline: string, release: number, action = 'deploy', attempt = 1): Promise<DeployStatus> {
    return this.client.workflow.getHandle(workflowIds.deploy(pipeline, release, action, attempt)).query('status');
  }

  releaseStatus(pipeline: string, release: number): Promise<ReleaseStatus> {
    return this.client.workflow.getHandle(workflowIds.release(pipeline, release)).query('status');
  }

  pipelineStatus(pipeline: string): Promise<PipelineStatus> {
    return this.pipeline(pipeline).query('status');
  }

  /**
   * Lets time pass in steps until the condition holds. It fails, and names the awaited state, after `withinMs` of
   * virtual time and PATIENCE_MS of real time on top: virtual time may run ahead of a slow worker.
   */
  async until(
    what: string,
    holds: () => Promise<boolean>,
    { stepMs = MINUTE, withinMs = 12 * HOUR } = {},
  ): Promise<void> {
    let lateSince: number | undefined;
    for (let sleptMs = 0; !(await holds().catch(() => false)); sleptMs += stepMs) {
      if (sleptMs > withinMs) lateSince ??= Date.now();
      if (lateSince !== undefined) {
        if (Date.now() - lateSince > PATIENCE_MS)
          throw new Error(`waited ${withinMs / 1000} s of virtual time until ${what}\n${await this.standing()}`);
        await this.settled();
      }
      await this.sleep(lateSince === undefined ? stepMs : Math.min(stepMs, MINUTE));
    }
  }

  /** Everything that may still act, or is awaited: why a story does not end. */
  async standing(): Promise<string> {
    const said = [this.releasesUnderWay(), openWorkflows(this.client)];
    const standing = await Promise.all(said.map((lines) => lines.catch((error: unknown) => [String(error)])));
    return [await this.time.standing(), ...standing.flat()].join('\n');
  }

  /** Lets time pass until a release has ended and its pipeline knows it, and up to five minutes more. */
  async ended(
    pipeline: string,
    release: number,
    limits: { stepMs?: number; withinMs?: number } = {},
  ): Promise<ReleaseStatus> {
    const isThis = ({ number }: { readonly number: number }) => number === release;
    await this.until(
      `release ${release} ended`,
      async () => {
        const { active, lastRelease, releases } = await this.pipelineStatus(pipeline);
        // A release that was started by another may not have begun.
        const hasBegun = (lastRelease ?? 0) >= release && releases.find(isThis)?.state !== 'queued';
        return hasBegun && !active.includes(release);
      },
      { stepMs: 5 * MINUTE, ...limits },
    );
    return this.releaseStatus(pipeline, release);
  }

  /** The state of every running release, with a line for each of its actions. */
  private async releasesUnderWay(): Promise<string[]> {
    const pipelines = [...this.applied].map(async (pipeline) => {
      const { active } = await this.pipelineStatus(pipeline);
      return (await Promise.all(active.map((release) => this.standingOf(pipeline, release)))).flat();
    });
    return (await Promise.all(pipelines)).flat();
  }

  private async standingOf(pipeline: string, release: number): Promise<string[]> {
    const { actions } = await this.releaseStatus(pipeline, release);
    return Promise.all(
      actions.map(async ({ name, state, blockedBy, message, deploy }) => {
        const found = deploy ? await this.deployStatus(pipeline, release, name) : { summary: blockedBy ?? message };
        return `${pipeline}/${release}/${name} is ${state}: ${found.summary ?? ''}`;
      }),
    );
  }

  /** Lets time pass until a deploy is in a state. */
  async reaches(
    pipeline: string,
    release: number,
    what: (status: DeployStatus) => boolean,
    limits: { stepMs?: number; withinMs?: number } = {},
  ): Promise<DeployStatus> {
    await this.until('the deploy got there', async () => what(await this.deployStatus(pipeline, release)), limits);
    return this.deployStatus(pipeline, release);
  }

  private update<T>(handle: WorkflowHandle, name: string, input: object): Promise<T> {
    return handle.executeUpdate<T, [object]>(name, { args: [signRequest(this.seal, name, input)] });
  }
}

export const executable = (version: string): Artifact => ({
  ...{ name: 'executable', kind: 'executable', version, metadata: {} },
});

export interface JobView {
  readonly name: string;
  readonly size: number;
  readonly versions: Readonly<Record<string, number>>;
  readonly jobVersion: string;
}

/** For a world that trusts only holders of the key; with CONVEYOR_TEST_SEALED=1 every world is one. */
export const SEAL: SealSettings = {
  keys: [{ id: 'k1', secret: Buffer.alloc(32, 'k1') }],
  keysEnv: 'CONVEYOR_SEAL_KEYS',
  unsealed: 'refuse',
};

/** Throws, as a broken connection does: only the caller sees it. */
const thrown = (error: unknown): never => {
  throw error;
};

/** The least real time for a condition. */
const PATIENCE_MS = 120_000;

const SETTLE_MS = 250;

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** Tasks that restart within seconds, so that a phase's update takes less than a minute. */
const FAST = { fetchMs: 1_000, stopMs: 1_000, startMs: 2_000 };

const VIRTUAL_SETTINGS: Settings = {
  ...DEFAULT_SETTINGS,
  heartbeatTimeoutMs: HOUR,
  trackIntervalMs: 15_000,
  progressIntervalMs: 30_000,
  reconcileIntervalMs: 24 * HOUR,
};

const ACTION_SERVICES = ['build', 'integr-test', 'perf-test', 'pkg', 'profile', 'incident-report'];

/** Virtual time does not wait for namespaces; script isolation has separate tests. */
const NOT_APART = { method: { namespaces: null, account: null, tools: null, groups: null }, missing: [], refused: [] };

const EXTENSIONS = {
  scripts: { enabled: true, isolation: 'best-effort' },
  freshness: { tickets: 'tracker', managers: { storage: 'user:maria' } },
  extensions: [
    { name: 'twine', kind: 'push-type', url: 'http://simulator/push-types/twine' },
    // A process in between forwards these calls.
    { name: 'model', kind: 'push-type', url: 'http://simulator/push-types/model' },
    { name: 'config', kind: 'push-type', url: 'http://simulator/push-types/config' },
    { name: 'slow', kind: 'action-service', url: 'http://simulator/slow' },
    { name: 'builds', kind: 'dependency-graph', url: 'http://simulator/dependency-graph' },
    // It holds none, unless a test intercepts it.
    { name: 'boms', kind: 'dependency-graph', type: 'sboms', url: 'http://simulator/boms' },
    { name: 'tracker', kind: 'tickets', url: 'http://simulator/tickets' },
    { name: 'commits', kind: 'artifact-finder', url: 'http://simulator/artifact-finders/commits' },
    ...ACTION_SERVICES.map((name) => ({ name, kind: 'action-service', url: `http://simulator/actions/${name}` })),
  ],
};

const extensionsWith = (slow: readonly string[]) => ({
  ...EXTENSIONS,
  notifications: {
    receivers: [
      { name: 'pager', url: 'http://receivers/pager', for: ['group:storage'] },
      { name: 'owner', url: 'http://receivers/owner', for: ['user:alice'] },
    ],
  },
  extensions: EXTENSIONS.extensions.map((extension) =>
    slow.includes(extension.name) ? { ...extension, url: 'http://simulator/slow' } : extension,
  ),
});

/** All open worlds; the environment of the tests asks them what a stalled story waits for. */
const OPEN = new Set<VirtualWorld>();
Object.assign(globalThis, { [Symbol.for('conveyor.worlds')]: OPEN });

/** The SDK gives a server five seconds, which is too little on a busy machine. */
export async function startServer(path = process.env['CONVEYOR_TEST_SERVER'] ?? ''): Promise<TestWorkflowEnvironment> {
  for (const deadline = Date.now() + PATIENCE_MS; ;) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path } },
      });
    } catch (error) {
      if (!/did not start within/.test(String(error)) || Date.now() > deadline) throw error;
    }
  }
}

async function registerSearchAttributes(env: TestWorkflowEnvironment): Promise<void> {
  const types = { KEYWORD: 2, KEYWORD_LIST: 7 } as const;
  const searchAttributes = Object.fromEntries(
    Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => [name, types[type]]),
  );
  await env.connection.operatorService.addSearchAttributes({ namespace: 'default', searchAttributes });
}
