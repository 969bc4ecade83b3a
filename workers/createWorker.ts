import { readFileSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import {
  Runtime,
  Worker,
  type NativeConnection,
  type WorkerOptions,
  type WorkerStatus,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { createActionActivities } from '../activities/actionService';
import { createApprovalActivities } from '../activities/approvals';
import { createCalendarActivities } from '../activities/calendar';
import { wallClock } from '../activities/clock';
import { createChildActivities } from '../activities/children';
import { createExtensionLookActivities } from '../activities/extensionLooks';
import { createFinderActivities } from '../activities/finders';
import { createCanaryReader } from '../activities/canaryReader';
import { createHolderActivities } from '../activities/holders';
import { createLandingActivities } from '../activities/landing';
import { createNotifyActivities } from '../activities/notify';
import { createPageActivities } from '../activities/page';
import type { CallPorts } from '../activities/pushCalls';
import { createPushTypeActivities } from '../activities/pushType';
import { createRecallActivities } from '../activities/recall';
import { createScriptActivities } from '../activities/script';
import { createSnapshotStore } from '../activities/snapshots';
import { createOfferActivities } from '../activities/offers';
import { createSoakActivities } from '../activities/soak';
import { createWaitForActivities } from '../activities/waitFor';
import { createWindowRoomActivities } from '../activities/windowRoom';
import { createWallsProbe, type ProgramWalls } from '../configerator/compiler/walls';
import { copiesFolder } from '../configerator/repository/repository';
import { createSealOptions } from '../client/seal';
import type { Registry } from '../settings/registry';
import type { ObservedCall } from '../sdk/client';
import type { Runner } from '../sandbox/runner';
import type { PipelineIndex } from '../domain/pipeline/pipelineIndex';
import { callMeasure, recordMeasures, type Meter } from '../domain/metrics';
import { SIDE_QUEUES, sideQueue } from '../domain/taskQueues';
import { bundleForBuild } from '../workflows/versioning';
import { featureActivities, lookForKnownBugs } from './features';
import { workerIdentity, type ServerClock } from './serverClock';
import { createSinks } from './sinks';
import { NOT_TRACED, type TraceExporter } from './tracing';
import { withLandingRights } from './landingRights';

/** The parts of a worker; tests pass a virtual clock, an embedded simulator and a short heartbeat. */
export interface WorkerParts extends CallPorts {
  readonly connection: NativeConnection;
  /** For the activities that start and look at workflows. */
  readonly client: Client;
  readonly index: PipelineIndex;
  readonly runner: Runner;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Left out without traces. */
  readonly tracing?: TraceExporter;
  /** Gets the time at which Temporal began each task; left out if clocks are not compared. */
  readonly taskStarted?: ServerClock['taskStarted'];
  /** The isolation of configuration programs; by default the best that this machine offers. */
  readonly programs?: () => Promise<ProgramWalls>;
  /** The number of looks at offers that may stay at once (activities/offerWatch.ts); by default a fifth of the slots of looks. */
  readonly stays?: number;
  /** The workflow bundle, made once by the build. */
  readonly codePath: string;
  readonly options?: Partial<WorkerOptions>;
}

/** Several Temporal workers that start and stop together. */
export interface ConveyorWorker {
  /** Ends when all have drained, after `shutdown` or a signal; fails as soon as one fails. */
  run(): Promise<void>;
  shutdown(): void;
  /** The sums over all of them. */
  getStatus(): Pick<WorkerStatus, 'numInFlightWorkflowActivations' | 'numInFlightActivities' | 'runState'>;
}

/**
 * A worker for workflows and activities. Heartbeats are sent at once instead of at 80% of their timeout, so that the
 * successor of a killed worker continues at the same point; a cached workflow moves to another worker after a second.
 * Long, numerous and urgent activities have their own slots (domain/taskQueues.ts).
 */
export async function createWorker(parts: WorkerParts): Promise<ConveyorWorker> {
  const { connection, namespace, taskQueue, codePath, options, registry, tracing = NOT_TRACED } = parts;
  const common: Omit<WorkerOptions, 'taskQueue'> = {
    connection,
    namespace,
    activities: createWorkerActivities(parts),
    ...createSealOptions(registry.seal),
    maxHeartbeatThrottleInterval: '1s',
    activityTaskPollerBehavior: { type: 'autoscaling' },
  };
  const { slots } = registry;
  const main = Worker.create({
    ...common,
    taskQueue,
    workflowBundle: loadWorkflowBundle(codePath, options),
    sinks: createSinks(tracing, parts.taskStarted),
    stickyQueueScheduleToStartTimeout: '1s',
    maxConcurrentWorkflowTaskExecutions: 120,
    maxConcurrentActivityTaskExecutions: slots.effects,
    workflowTaskPollerBehavior: { type: 'autoscaling' },
    ...options,
  });
  const beside = SIDE_QUEUES.map((side) =>
    Worker.create({
      ...common,
      taskQueue: sideQueue(taskQueue, side),
      maxConcurrentActivityTaskExecutions: slots[side],
      ...options,
    }),
  );
  return asOne(await Promise.all([main, ...beside]));
}

function loadWorkflowBundle(
  codePath: string,
  { workerDeploymentOptions }: Partial<WorkerOptions> = {},
): WorkflowBundleOption {
  if (workerDeploymentOptions?.useWorkerVersioning !== true) return { codePath };
  return { code: bundleForBuild(readFileSync(codePath, 'utf8')) };
}

function createWorkerActivities({
  client,
  index,
  taskQueue,
  runner,
  tracing = NOT_TRACED,
  stays,
  ...unmeasured
}: WorkerParts): object {
  const programs = unmeasured.programs ?? createWallsProbe(unmeasured.registry);
  const ports = { ...unmeasured, registry: observeCalls(unmeasured.registry, tracing) };
  const snapshots = createSnapshotStore({ client, taskQueue });
  const canaries = createCanaryReader(client);
  const extended = { ...ports, client, index };
  return {
    ...createPushTypeActivities({ ...ports, snapshots, canaries }),
    ...createActionActivities({ ...ports, snapshots }),
    ...createHolderActivities({ ...ports, canaries, client, taskQueue }),
    ...createChildActivities({ ...ports, client, index }),
    ...createCalendarActivities(ports),
    ...createExtensionLookActivities({ ...ports, identity: workerIdentity(), ownClock: wallClock }),
    ...createFinderActivities({ ...ports, client, index }),
    ...createScriptActivities({ ...ports, scripts: ports.registry.scripts, runner, snapshots }),
    ...createWaitForActivities({ client }),
    ...createRecallActivities({ client }),
    ...createApprovalActivities({ ...ports, lookForBugs: (artifacts) => lookForKnownBugs(extended, artifacts) }),
    ...createSoakActivities({ client, clock: ports.clock }),
    ...createOfferActivities({
      client,
      clock: ports.clock,
      taskQueue,
      stays: stays ?? Math.floor(ports.registry.slots.looks / 5),
    }),
    ...createWindowRoomActivities({ client, clock: ports.clock }),
    ...createLandingActivities({
      ...{ clock: ports.clock, programs, copies: copiesFolder(process.env) },
      registry: withLandingRights(unmeasured.registry),
    }),
    ...createNotifyActivities(ports),
    ...createPageActivities(ports),
    ...featureActivities(extended),
  };
}

/**
 * Wraps the registry so that calls to its extensions are timed and traced. It always reflects the present
 * configuration.
 */
function observeCalls(registry: Registry, tracing: TraceExporter): Registry {
  const meter: Meter = Runtime.instance().metricMeter;
  const find: Registry['find'] = (kind, name) => ({
    ...registry.find(kind, name),
    observe: (call: ObservedCall) => {
      recordMeasures(meter, [callMeasure(name, call.method, call.code, call.tookMs)]);
      tracing.called(name, call);
    },
  });
  return new Proxy(registry, { get: (_, part) => (part === 'find' ? find : registry[part as keyof Registry]) });
}

function asOne(workers: readonly Worker[]): ConveyorWorker {
  const shutdown = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const total = (of: (status: WorkerStatus) => number): number =>
    workers.reduce((sum, worker) => sum + of(worker.getStatus()), 0);
  return {
    shutdown,
    // A failed one stops the others, because half a worker would look alive.
    run: async () => void (await Promise.all(workers.map((worker) => worker.run().finally(shutdown)))),
    getStatus: () => ({
      // The status of the least advanced one.
      runState: workers.map((worker) => worker.getState()).find((state) => state !== 'RUNNING') ?? 'RUNNING',
      numInFlightWorkflowActivations: total((status) => status.numInFlightWorkflowActivations),
      numInFlightActivities: total((status) => status.numInFlightActivities),
    }),
  };
}
