import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Payload, SerializationContext } from '@temporalio/common';
import { decodeOptionalSinglePayload } from '@temporalio/common/lib/internal-non-workflow';
import type { DeployInput, DeployResult } from '../domain/deploy/state';
import type { ReleaseEnd } from '../domain/pipeline/reconcile';
import { workflowIds } from '../domain/ids';
import { listUses } from '../domain/offers/judge';
import { KEEPS_FAILING } from '../domain/looks';
import { isOpenStatus } from '../domain/openStatus';
import type { DeployEndRecord, ReleaseResult } from '../domain/release/state';
import type { Settings } from '../domain/settings';
import { formatTime } from '../domain/text';
import { stopRun, type ActionRun } from './actionService';
import type { CallPorts } from './pushCalls';

type RemainsParts = CallPorts & { readonly client: Client };
type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;

/** If a service never answers again, a run counts as over after this time from the end of its release or deploy; ms. */
export type StopPatience = Pick<Settings, 'cancelGraceMs' | 'dependencyGraceMs' | 'reconcileIntervalMs'>;

/**
 * How a release ended; undefined while it runs. A release that was ended from outside could stop nothing. So this stops the runs of its
 * actions, under the keys that it would have used itself, and looks at its deploys.
 */
export async function releaseEnd(
  parts: RemainsParts,
  { pipeline, number }: { readonly pipeline: string; readonly number: number },
  patience: StopPatience,
): Promise<ReleaseEnd | undefined> {
  const { client, clock } = parts;
  const workflowId = workflowIds.release(pipeline, number);
  const handle = client.workflow.getHandle(workflowId);
  try {
    const { status, closeTime } = await handle.describe();
    if (isOpenStatus(status.name)) return undefined;
    const result = status.name === 'COMPLETED' && ((await handle.result()) as ReleaseResult | undefined);
    if (result) return { kind: 'told', result };
    const endedAtMs = closeTime?.getTime() ?? (await clock.now());
    const left = await remainsIn(client, workflowId, await handle.fetchHistory());
    const open = await stopAll(parts, left.runs, endedAtMs + patience.cancelGraceMs);
    const deploys = await Promise.all(left.deploys.map((deploy) => deployEnd(parts, deploy, patience)));
    return {
      ...{ kind: 'gone', number, endedAt: formatTime(endedAtMs) },
      deploys: deploys.flatMap(({ settled }) => settled ?? []),
      open: [...open, ...deploys.flatMap((deploy) => deploy.open ?? [])],
    };
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    return { kind: 'gone', number, endedAt: formatTime(await clock.now()), deploys: [], open: [] };
  }
}

/**
 * Stops the remaining step runs of a deploy that was ended from outside. A deploy that runs, that ended by itself, or that is unknown has none.
 * @returns why each of them is not over yet; after `graceMs` from its end, all count as over.
 */
export async function stepsLeft(parts: RemainsParts, workflowId: string, graceMs: number): Promise<string[]> {
  const handle = parts.client.workflow.getHandle(workflowId);
  try {
    const { status, closeTime } = await handle.describe();
    if (isOwnEnd(status.name)) return [];
    const endedAtMs = closeTime?.getTime() ?? (await parts.clock.now());
    const { runs } = await remainsIn(parts.client, workflowId, await handle.fetchHistory());
    return await stopAll(parts, runs, endedAtMs + graceMs);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return [];
    throw error;
  }
}

/** Whether a workflow with this status runs or ended by itself. */
export const isOwnEnd = (name: string): boolean => isOpenStatus(name) || name === 'COMPLETED';

async function stopAll(parts: RemainsParts, runs: readonly ActionRun[], patientUntilMs: number): Promise<string[]> {
  const isPatient = (await parts.clock.now()) < patientUntilMs;
  const left = await Promise.all(runs.map((run) => stopFailure(parts, run, isPatient)));
  return left.flatMap((why) => why ?? []);
}

/** @returns why the run is not over yet. */
async function stopFailure(parts: RemainsParts, run: ActionRun, isPatient: boolean): Promise<string | undefined> {
  try {
    await stopRun(parts, run);
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return isPatient ? `${run.service} has not stopped ${run.runId}: ${why}` : undefined;
  }
}

async function deployEnd(
  parts: RemainsParts,
  { workflowId, action, artifacts, canary, wishes }: StartedDeploy,
  patience: StopPatience,
): Promise<{ settled?: DeployEndRecord; open?: readonly string[] }> {
  const handle = parts.client.workflow.getHandle(workflowId);
  try {
    const { status } = await handle.describe();
    if (isOpenStatus(status.name)) return { open: [`${workflowId} has not ended`] };
    if (status.name !== 'COMPLETED') return { open: await stepsLeft(parts, workflowId, patience.cancelGraceMs) };
    // The records do not include canaries.
    const result = (await handle.result()) as DeployResult | undefined;
    return canary || !result ? {} : { settled: { action, artifacts, result, ...listUses(wishes) } };
  } catch (error) {
    // A deploy that Temporal has forgotten does not affect the others.
    if (error instanceof WorkflowNotFoundError) return {};
    throw error;
  }
}

type StartedDeploy = Pick<DeployInput, 'action' | 'artifacts' | 'canary' | 'wishes'> & { readonly workflowId: string };

interface RemainingWork {
  readonly runs: readonly ActionRun[];
  readonly deploys: readonly StartedDeploy[];
}

/**
 * Reads the work of a release or deploy from its history: its deploys, and the runs whose end it does not know. Strangers may write a history
 * too. If payloads are sealed, only work that is sealed for its receiver counts.
 */
async function remainsIn(client: Client, workflowId: string, { events }: History): Promise<RemainingWork> {
  const { namespace } = client.options;
  const runs = new Map<string, Promise<ActionRun | undefined>>();
  const deploys: Promise<StartedDeploy | undefined>[] = [];
  for (const event of events ?? []) {
    const begun = event.activityTaskScheduledEventAttributes;
    if (begun && RUNS.has(begun.activityType?.name ?? '')) {
      const { activityId } = begun;
      const owner = { type: 'activity', namespace, workflowId, isLocal: false, ...(activityId ? { activityId } : {}) };
      runs.set(String(event.eventId), firstPayload(client, begun.input, owner as SerializationContext));
    }
    const failed = event.activityTaskFailedEventAttributes;
    // A look that was given up for a while does not show that the run is over.
    const isGivenUp = failed?.failure?.applicationFailureInfo?.type === KEEPS_FAILING;
    const over = event.activityTaskCompletedEventAttributes ?? failed ?? event.activityTaskCanceledEventAttributes;
    if (over && !isGivenUp) runs.delete(String(over.scheduledEventId));
    const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
    if (child?.workflowType?.name !== 'deploy' || !child.workflowId) continue;
    deploys.push(readStartedDeploy(client, child.workflowId, child.input));
  }
  const left = (await Promise.all(runs.values())).flatMap((run) => run ?? []);
  return {
    runs: [...new Map(left.map((run) => [run.runId, run])).values()],
    deploys: (await Promise.all(deploys)).flatMap((deploy) => deploy ?? []),
  };
}

async function readStartedDeploy(client: Client, workflowId: string, input: Input): Promise<StartedDeploy | undefined> {
  const context = { type: 'workflow', namespace: client.options.namespace, workflowId } as const;
  const found = await firstPayload<DeployInput>(client, input, context);
  return found && { ...found, workflowId };
}

const RUNS: ReadonlySet<string> = new Set(['runAction', 'cancelAction']);

type Input = { readonly payloads?: Payload[] | null } | null | undefined;

const firstPayload = async <T>(client: Client, input: Input, context: SerializationContext): Promise<T | undefined> =>
  (await decodeOptionalSinglePayload<T>(client.options.loadedDataConverter, input?.payloads?.[0], context)) ??
  undefined;
