import { createHash } from 'node:crypto';
import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Watched } from '../domain/deploy/bake';
import type { PhasePlan, PlannedTarget } from '../domain/deploy/plan';
import { judgeEach } from '../domain/deploy/lockstep';
import { judgeProgress } from '../domain/deploy/progress';
import type { Amount } from '../domain/fleet/amount';
import type { Unit, UnitProgress } from '../domain/fleet/unit';
import { workflowIds } from '../domain/ids';
import type { Guest } from '../domain/mutex';
import type { HealthCheck } from '../domain/spec/health';
import { callExtension, type Fetch } from '../sdk/client';
import type { RequestInput, ResponseOf } from '../sdk/protocol/common';
import { pushTypeProtocol, type PushTypeProtocol } from '../sdk/protocol/pushType';
import type { Registry } from '../sdk/registry';
import type { Clock } from './clock';
import { asFailure, stillWaiting } from './failure';
import { watchHealth, type HealthReport, type HealthWatch } from './healthWatch';
import { poll } from './polling';

/** Who calls, for the `context` of every request and the push type's name in the registry. */
export interface DeployCall {
  readonly pushType: string;
  readonly pipeline: string;
  readonly release: number;
  readonly deployId: string;
  /** Null before the push type has told it. */
  readonly service?: string | null;
  readonly actor: string;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface UpdateRequest {
  readonly updateId: string;
  readonly targets: readonly PlannedTarget[];
  readonly wholeUnit: boolean;
  readonly urgency: 'normal' | 'revert';
}

/** `phase` names it in the idempotency key. */
export interface Prefetch {
  readonly phase: PhasePlan['key'];
  readonly targets: readonly PlannedTarget[];
}

/** How much of the requests of some units goes to a version; `step` names the phase, or `revert`, in the idempotency key. */
export interface Traffic {
  readonly step: string;
  readonly units: readonly string[];
  readonly percent: number;
  readonly toVersion: string;
}

/** How long to follow an update: until its criterion is met or cannot be met any more. */
export interface Following {
  readonly updateId: string;
  readonly success: Amount;
  /** Lockstep: each unit has to meet it. */
  readonly each?: boolean;
  readonly intervalMs: number;
  readonly heartbeatTimeoutMs: number;
}

export interface Ports {
  /** The running canaries on the service of a lock; left out where there are none ever. */
  readonly guests?: (lockId: string) => Promise<readonly Guest[]>;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly fetch?: Fetch;
}

export type PushTypeActivities = ReturnType<typeof createPushTypeActivities>;
export type { HealthReport, HealthWatch, Watched, HealthCheck };

/** The push type port (protocols.md): thin calls, keyed so that a repetition changes nothing, and two that watch. */
export function createPushTypeActivities(ports: Ports) {
  const invoke: Invoke = (call, method, request, key) => invokePushType(ports, call, method, request, key);
  return {
    validateConfig: async (call: DeployCall) => (await invoke(call, 'validateConfig', {})).problems,

    fetchDeployUnits: (call: DeployCall): Promise<{ service: string; units: Unit[] }> =>
      invoke(call, 'fetchDeployUnits', {}),

    /** Which of the units are available again; none when there are no such units any more. */
    waitForUnits: async (call: DeployCall, wanted: readonly string[], intervalMs: number) => {
      // Weeks of waiting outlast a bad token: what is refused today is asked again.
      const asked = invoke(call, 'fetchDeployUnits', {}).catch((error: Error) =>
        Promise.reject(stillWaiting(error.message, intervalMs)),
      );
      return returned((await asked).units, wanted, intervalMs);
    },

    /** How many tasks of each unit are not on the version. */
    countOutdated: async (call: DeployCall, targets: readonly PlannedTarget[]) => {
      const exclude = await reserved(ports, call);
      return (await invoke(call, 'needsPush', { targets: targets.map((target) => toWire(target, exclude)) })).units;
    },

    executeUpdates: async (call: DeployCall, update: UpdateRequest) => {
      const exclude = await reserved(ports, call);
      const targets = update.targets.map((target) => toWire(target, exclude));
      const key = keyOf(`${update.updateId}/execute`, exclude);
      return (await invoke(call, 'executeUpdates', { ...update, targets }, key)).accepted;
    },

    trackUpdates: async (call: DeployCall, updateId: string): Promise<UnitProgress[]> =>
      (await invoke(call, 'trackUpdates', { updateId })).units,

    /** Heartbeats the counts; answers with the last ones once the phase's fate is clear. */
    followUpdates: (call: DeployCall, following: Following): Promise<UnitProgress[]> =>
      poll<UnitProgress[], { units: UnitProgress[] }>({ clock: ports.clock, ...following }, async () => {
        const { units } = await invoke(call, 'trackUpdates', { updateId: following.updateId });
        const progress = (following.each ? judgeEach : judgeProgress)(units, following.success);
        return progress.kind === 'going' ? { seen: { units } } : { done: units };
      }),

    ...steering(invoke),

    /** Sends a share of the requests to a version. @returns false where the push type has no such method. */
    shiftTraffic: async (call: DeployCall, { step, units, percent, toVersion }: Traffic): Promise<boolean> => {
      const request = { units: [...units], percent, toVersion };
      return offered(() => invoke(call, 'shiftTraffic', request, `${call.deployId}/${step}/traffic`));
    },

    /** Asks the fleet to fetch what a phase brings before it begins. @returns false where the push type has no such method. */
    prefetch: async (call: DeployCall, { phase, targets }: Prefetch): Promise<boolean> => {
      const exclude = await reserved(ports, call);
      const request = { targets: targets.map((target) => toWire(target, exclude)) };
      return offered(() => invoke(call, 'prefetch', request, keyOf(`${call.deployId}/${phase}/prefetch`, exclude)));
    },

    /** Evaluates the checks again and again; see `HealthWatch` for when it ends. */
    watchHealth: (call: DeployCall, watch: HealthWatch): Promise<HealthReport> =>
      watchHealth(
        ports.clock,
        async (request) => {
          const exclude = await reserved(ports, call);
          const targets = { ...request.targets, ...(exclude.length > 0 ? { exclude } : {}) };
          return invoke(call, 'runHealthChecks', { ...request, targets });
        },
        watch,
      ),
  };
}

/** Looks once: until some are back it fails and says when to be tried again, so that weeks take no worker's time. */
function returned(units: readonly Unit[], wanted: readonly string[], intervalMs: number) {
  const left = units.filter(({ id }) => wanted.includes(id));
  const available = left.filter((unit) => unit.available).map(({ id }) => id);
  if (left.length > 0 && available.length === 0)
    throw stillWaiting(`${left.map(({ id }) => id).join(', ')} unavailable`, intervalMs);
  return { available };
}

type Methods = PushTypeProtocol;
type Invoke = <M extends keyof Methods & string>(
  call: DeployCall,
  method: M,
  request: RequestInput<Methods[M]>,
  key?: string,
) => Promise<ResponseOf<Methods[M]>>;

/** What stops an update that has begun, and lets it go on. */
const steering = (invoke: Invoke) => ({
  /** All of an update, or some of its units; `nth` counts either by itself. */
  pauseUpdates: (call: DeployCall, updateId: string, nth: number, units?: readonly string[]) =>
    invoke(call, 'pauseUpdates', referTo(updateId, units), `${updateId}/pause${units ? '/units' : ''}/${nth}`),
  resumeUpdates: (call: DeployCall, updateId: string, nth: number, units?: readonly string[]) =>
    invoke(call, 'resumeUpdates', referTo(updateId, units), `${updateId}/resume${units ? '/units' : ''}/${nth}`),
  cancelUpdates: (call: DeployCall, updateId: string) =>
    invoke(call, 'cancelUpdates', { updateId }, `${updateId}/cancel`),
});

function invokePushType<M extends keyof Methods & string>(
  { registry, fetch }: Ports,
  call: DeployCall,
  method: M,
  request: RequestInput<Methods[M]>,
  key: string | undefined,
): Promise<ResponseOf<Methods[M]>> {
  const { pushType, pipeline, release, deployId, actor, config } = call;
  return asFailure(() =>
    callExtension({
      service: registry.find('push-type', pushType),
      protocol: pushTypeProtocol,
      method,
      request,
      context: { pipeline, release, deployId, actor, config: { ...config } },
      runId: deployId,
      signal: Context.current().cancellationSignal,
      ...(key === undefined ? {} : { key }),
      ...(fetch === undefined ? {} : { fetch }),
    }),
  );
}

/** The updates of other canaries on the service, whose tasks are theirs alone. */
async function reserved({ guests }: Ports, { pushType, service, deployId }: DeployCall): Promise<string[]> {
  if (guests === undefined || !service) return [];
  const present = await guests(workflowIds.serviceLock(pushType, service));
  return present.filter(({ requester }) => requester !== deployId).flatMap(({ updates }) => updates);
}

const referTo = (updateId: string, units: readonly string[] | undefined) =>
  units ? { updateId, units: [...units] } : { updateId };

/** Calls a method that a push type need not have. */
async function offered(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (error instanceof ApplicationFailure && error.type === 'extension-lacks-method') return false;
    throw error;
  }
}

/** A repetition that finds other canaries is another request, which the push type knows by its update id. */
const keyOf = (name: string, exclude: readonly string[]): string =>
  exclude.length === 0 ? name : `${name}/${createHash('sha256').update(exclude.join()).digest('hex').slice(0, 16)}`;

/** Targets travel through workflows read-only; the wire wants arrays of its own. */
const toWire = (target: PlannedTarget, exclude: string[]) => ({
  ...target,
  artifacts: target.artifacts.map((artifact) => ({ ...artifact, metadata: { ...artifact.metadata } })),
  updatedBy: target.updatedBy === undefined ? undefined : [...target.updatedBy],
  ...(exclude.length > 0 ? { exclude } : {}),
});
