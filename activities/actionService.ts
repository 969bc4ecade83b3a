import { CancelledFailure, Context } from '@temporalio/activity';
import type { Artifact } from '../domain/artifact';
import { callExtension } from '../sdk/client';
import { actionServiceProtocol, type ActionServiceProtocol } from '../sdk/protocol/actionService';
import type { RequestInput, ResponseOf } from '../sdk/protocol/common';
import { beating } from './clock';
import { asFailure } from './failure';
import { poll } from './polling';
import type { Ports } from './pushType';

/** One attempt of one action, run by the action service of that name. */
export interface ActionRun {
  readonly service: string;
  /** Also the idempotency key: the same run id starts nothing new. */
  readonly runId: string;
  readonly pipeline: string;
  readonly release: number;
  readonly action: string;
  readonly attempt: number;
  readonly actor: string;
  readonly inputs: readonly Artifact[];
  readonly with: Readonly<Record<string, unknown>>;
  readonly intervalMs: number;
  readonly heartbeatTimeoutMs: number;
}

export interface ActionEnd {
  readonly succeeded: boolean;
  readonly message: string;
  readonly outputs: readonly Artifact[];
}

/** What is heartbeaten, for `status`. */
export interface ActionSeen {
  readonly action: string;
  readonly progress: number | null;
  readonly message: string | null;
  /** Where the service shows more. */
  readonly url?: string | null;
}

/** The detail of the failure of a run that was cancelled: whether its service said that it has stopped it. */
export interface ActionStop {
  readonly stopped: boolean;
}

export type ActionActivities = ReturnType<typeof createActionActivities>;

/** The action service port (protocols.md; Conveyor §5.1: `startRun`, then `getRunProgress` until it ends). */
export function createActionActivities(ports: Ports) {
  return {
    /**
     * Starts the run, or finds it started, and follows it to its end. Cancelling asks its service once to stop it. A worker that
     * shuts down stops nothing: the run is followed from another.
     * @throws CancelledFailure with `ActionStop`
     */
    runAction: async (run: ActionRun): Promise<ActionEnd> => {
      const { service, runId, pipeline, release, action, attempt } = run;
      const invoke = invoker(ports, run);
      const inputs = run.inputs.map((artifact) => ({ ...artifact, metadata: { ...artifact.metadata } }));
      const request = { runId, pipeline, release, action, attempt, inputs, with: { ...run.with } };
      try {
        await unaborted(run, () => invoke('startRun', request, runId, null));
        return await poll<ActionEnd, ActionSeen>({ clock: ports.clock, ...run }, async () => {
          const {
            state,
            message = null,
            progress = null,
            url = null,
            outputs,
          } = await invoke('getRunProgress', { runId });
          if (state === 'running') return { seen: { action, progress, message, url } };
          const said = message ?? `${service} says that it ${state}`;
          return { done: { succeeded: state === 'succeeded', message: said, outputs: outputs ?? [] } };
        });
      } catch (error) {
        if (!Context.current().cancellationDetails?.cancelRequested) throw error;
        const stopping = invoke('cancelRun', { runId }, `${runId}/cancel`, null);
        const stopped = await stopping.then(
          () => true,
          () => false,
        );
        throw new CancelledFailure('it is not wanted any more', [{ stopped } satisfies ActionStop]);
      }
    },

    /** For whoever waits until a service answers again, whatever it says of the run. */
    askAction: async (run: ActionRun): Promise<void> => {
      await invoker(ports, run)('getRunProgress', { runId: run.runId });
    },

    /** For a run that may have been begun and that nobody follows any more. */
    cancelAction: async (run: ActionRun): Promise<void> => {
      await invoker(ports, run)('cancelRun', { runId: run.runId }, `${run.runId}/cancel`);
    },
  };
}

/** A start that is on its way is waited for also when the run is cancelled: it could not be cancelled before it is there. */
const unaborted = <T>({ heartbeatTimeoutMs }: ActionRun, start: () => Promise<T>): Promise<T> =>
  beating(heartbeatTimeoutMs / 3, () => Context.current().heartbeat(Context.current().info.heartbeatDetails), start);

type Methods = ActionServiceProtocol;

function invoker({ registry, fetch }: Ports, run: ActionRun) {
  return <M extends keyof Methods & string>(
    method: M,
    request: RequestInput<Methods[M]>,
    key?: string,
    signal: AbortSignal | null = Context.current().cancellationSignal,
  ): Promise<ResponseOf<Methods[M]>> =>
    asFailure(() =>
      callExtension({
        service: registry.find('action-service', run.service),
        protocol: actionServiceProtocol,
        method,
        request,
        context: {
          pipeline: run.pipeline,
          release: run.release,
          deployId: run.runId,
          actor: run.actor,
          config: { ...run.with },
        },
        runId: run.runId,
        ...(signal === null ? {} : { signal }),
        ...(key === undefined ? {} : { key }),
        ...(fetch === undefined ? {} : { fetch }),
      }),
    );
}
