import { Context } from '@temporalio/activity';
import type { Watched } from '../domain/deploy/bake';
import type { PlannedTarget } from '../domain/deploy/plan';
import { judgeProgress } from '../domain/deploy/progress';
import type { Amount } from '../domain/fleet/amount';
import type { Unit, UnitProgress } from '../domain/fleet/unit';
import type { HealthCheck } from '../domain/spec/health';
import { callExtension, type Fetch } from '../sdk/client';
import type { RequestInput, ResponseOf } from '../sdk/protocol/common';
import { pushTypeProtocol, type PushTypeProtocol } from '../sdk/protocol/pushType';
import type { Registry } from '../sdk/registry';
import type { Clock } from './clock';
import { asFailure } from './failure';
import { watchHealth, type HealthReport, type HealthWatch } from './healthWatch';
import { poll } from './polling';

/** Who calls, for the `context` of every request and the push type's name in the registry. */
export interface DeployCall {
  readonly pushType: string;
  readonly pipeline: string;
  readonly release: number;
  readonly deployId: string;
  readonly actor: string;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface UpdateRequest {
  readonly updateId: string;
  readonly targets: readonly PlannedTarget[];
  readonly wholeUnit: boolean;
  readonly urgency: 'normal' | 'revert';
}

/** How long to follow an update: until its criterion is met or cannot be met any more. */
export interface Following {
  readonly updateId: string;
  readonly success: Amount;
  readonly intervalMs: number;
  readonly heartbeatTimeoutMs: number;
}

export interface Ports {
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

    /** How many tasks of each unit are not on the version. */
    countOutdated: async (call: DeployCall, targets: readonly PlannedTarget[]) =>
      (await invoke(call, 'needsPush', { targets: targets.map(toWire) })).units,

    executeUpdates: async (call: DeployCall, update: UpdateRequest) =>
      (
        await invoke(
          call,
          'executeUpdates',
          { ...update, targets: update.targets.map(toWire) },
          `${update.updateId}/execute`,
        )
      ).accepted,

    trackUpdates: async (call: DeployCall, updateId: string): Promise<UnitProgress[]> =>
      (await invoke(call, 'trackUpdates', { updateId })).units,

    /** Heartbeats the counts; answers with the last ones once the phase's fate is clear. */
    followUpdates: (call: DeployCall, following: Following): Promise<UnitProgress[]> =>
      poll<UnitProgress[], { units: UnitProgress[] }>({ clock: ports.clock, ...following }, async () => {
        const { units } = await invoke(call, 'trackUpdates', { updateId: following.updateId });
        return judgeProgress(units, following.success).kind === 'going' ? { seen: { units } } : { done: units };
      }),

    pauseUpdates: (call: DeployCall, updateId: string, nth: number) =>
      invoke(call, 'pauseUpdates', { updateId }, `${updateId}/pause/${nth}`),
    resumeUpdates: (call: DeployCall, updateId: string, nth: number) =>
      invoke(call, 'resumeUpdates', { updateId }, `${updateId}/resume/${nth}`),
    cancelUpdates: (call: DeployCall, updateId: string) =>
      invoke(call, 'cancelUpdates', { updateId }, `${updateId}/cancel`),

    /** Evaluates the checks again and again; see `HealthWatch` for when it ends. */
    watchHealth: (call: DeployCall, watch: HealthWatch): Promise<HealthReport> =>
      watchHealth(ports.clock, (request) => invoke(call, 'runHealthChecks', request), watch),
  };
}

type Methods = PushTypeProtocol;
type Invoke = <M extends keyof Methods & string>(
  call: DeployCall,
  method: M,
  request: RequestInput<Methods[M]>,
  key?: string,
) => Promise<ResponseOf<Methods[M]>>;

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

/** Targets travel through workflows read-only; the wire wants arrays of its own. */
const toWire = (target: PlannedTarget) => ({
  ...target,
  artifacts: target.artifacts.map((artifact) => ({ ...artifact, metadata: { ...artifact.metadata } })),
  updatedBy: target.updatedBy === undefined ? undefined : [...target.updatedBy],
});
