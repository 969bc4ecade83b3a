import { CancelledFailure, Context } from '@temporalio/activity';
import { decideUse } from '../domain/access/usage';
import type { Artifact } from '../domain/artifact';
import type { Selection } from '../domain/deploy/snapshot';
import { excessOfArtifacts, excessText, over } from '../domain/excess';
import { REQUEST_LIMITS, SPEC_LIMITS } from '../domain/limits';
import { cutText, textBytes } from '../domain/size';
import { createRunCallback } from '../settings/callbacks';
import { callExtension } from '../sdk/client';
import { actionServiceProtocol, type ActionServiceProtocol } from '../sdk/protocol/actionService';
import type { RequestInput, ResponseOf } from '../sdk/protocol/common';
import { requireAllowed, type Authority } from './authority';
import { asFailure } from './failure';
import { look } from './look';
import type { CallPorts, PushPorts } from './pushCalls';
import { unitsIn } from './snapshots';

/** One attempt of one action, which the action service of that name runs. */
export interface ActionRun extends Authority {
  readonly service: string;
  /** The run id is also the idempotency key: the same id starts no second run. */
  readonly runId: string;
  readonly pipeline: string;
  readonly release: number;
  readonly action: string;
  readonly attempt: number;
  readonly actor: string;
  readonly inputs: readonly Artifact[];
  readonly with: Readonly<Record<string, unknown>>;
  /** A step around a phase: its input has the phase and its units, in addition to `with`. */
  readonly step?: { readonly phase: string; readonly selection: Selection };
  readonly intervalMs: number;
  readonly heartbeatTimeoutMs: number;
}

export interface ActionEnd {
  readonly succeeded: boolean;
  readonly message: string;
  readonly outputs: readonly Artifact[];
  /** The page of its service with details. */
  readonly url?: string;
}

/** The heartbeat, for `status`. */
export interface ActionSeen {
  readonly action: string;
  /** The front end finds the activity by this when the service reports that the run has ended. */
  readonly run?: string;
  readonly progress: number | null;
  readonly message: string | null;
  /** The page of the service with details. */
  readonly url?: string | null;
}

/** The detail of the failure of a cancelled run: whether its service confirmed that it has stopped the run. */
export interface ActionStop {
  readonly stopped: boolean;
}

export type ActionActivities = ReturnType<typeof createActionActivities>;

/** The action service port (docs/reference/protocols.md#action-service; Conveyor §5.1: `startRun`, then `getRunProgress` until it ends). */
export function createActionActivities(ports: PushPorts) {
  return {
    /**
     * Starts the run, or finds it started, and looks once at its progress. A cancel during a look asks the service once to stop the run.
     * Between two looks the activity does not run, so the workflow has to ask. A worker that shuts down stops nothing: another worker
     * follows the run.
     * @throws CancelledFailure with `ActionStop`
     */
    runAction: async (run: ActionRun): Promise<ActionEnd> => {
      const { service, runId, pipeline, release, action, attempt } = run;
      const invoke = actionInvoker(ports, run);
      const inputs = run.inputs.map((artifact) => ({ ...artifact, metadata: { ...artifact.metadata } }));
      const given = { ...(run.step ? await stepInput(ports, run.step) : {}), ...run.with };
      const { callbacks } = ports.registry;
      const callback = callbacks && { callback: createRunCallback(callbacks, runId) };
      const request = { runId, pipeline, release, action, attempt, inputs, with: given, ...callback };
      try {
        return await look<ActionEnd, ActionSeen>({ clock: ports.clock, ...run }, async (_now, before) => {
          // A start on its way is waited for even if the run is cancelled, because a run can be cancelled only once it exists.
          if (before === undefined) {
            await allowRun(ports, run);
            await invoke('startRun', request, runId, null);
          }
          const {
            state,
            message = null,
            progress = null,
            url = null,
            outputs,
          } = await invoke('getRunProgress', { runId });
          if (state === 'running')
            return { seen: { action, run: runId, progress, message, url }, message: message ?? state };
          const reason = cutText(message ?? `${service} says that it ${state}`, REQUEST_LIMITS.reason.max);
          const more = url !== null && textBytes(url) <= SPEC_LIMITS.url.max ? { url } : {};
          return {
            done: enforceOutputLimits({
              succeeded: state === 'succeeded',
              message: reason,
              outputs: outputs ?? [],
              ...more,
            }),
          };
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

    /** For a workflow that waits until a service answers again, with any answer about the run. */
    askAction: async (run: ActionRun): Promise<void> => {
      await actionInvoker(ports, run)('getRunProgress', { runId: run.runId });
    },

    /** For a run that may have begun and that no workflow follows any more. */
    cancelAction: (run: ActionRun): Promise<void> => stopRun(ports, run),
  };
}

/** @throws ApplicationFailure `not-permitted` */
const allowRun = ({ platform }: CallPorts, run: ActionRun): Promise<void> =>
  asFailure(() => {
    const use = { kind: 'action-service', name: run.service } as const;
    requireAllowed(platform, run, run.pipeline, (facts, owners) => decideUse(facts, owners, use));
    return Promise.resolve();
  });

async function stepInput({ snapshots }: PushPorts, { phase, selection }: NonNullable<ActionRun['step']>) {
  return { phase, units: (await unitsIn(snapshots, selection)).map(({ id }) => id) };
}

/** Asks the service to stop a run; a repetition has no further effect. */
export async function stopRun(ports: CallPorts, run: ActionRun): Promise<void> {
  await actionInvoker(ports, run)('cancelRun', { runId: run.runId }, `${run.runId}/cancel`);
}

/**
 * Outputs that are too large fail the run: the release could not carry them, and another try would make the same
 * outputs.
 */
function enforceOutputLimits(end: ActionEnd): ActionEnd {
  const excess = over(REQUEST_LIMITS.outputs, end.outputs.length) ?? excessOfArtifacts(end.outputs);
  if (excess === undefined) return end;
  return { ...end, succeeded: false, message: `it made too much: ${excessText(excess)}`, outputs: [] };
}

type ActionMethods = ActionServiceProtocol;

function actionInvoker({ registry, fetch }: CallPorts, run: ActionRun) {
  return <M extends keyof ActionMethods & string>(
    method: M,
    request: RequestInput<ActionMethods[M]>,
    key?: string,
    signal: AbortSignal | null = Context.current().cancellationSignal,
  ): Promise<ResponseOf<ActionMethods[M]>> =>
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
          config: { ...(run.step && { phase: run.step.phase }), ...run.with },
        },
        runId: run.runId,
        ...(signal === null ? {} : { signal }),
        ...(key === undefined ? {} : { key }),
        ...(fetch === undefined ? {} : { fetch }),
      }),
    );
}
