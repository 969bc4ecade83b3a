import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Payload, SerializationContext } from '@temporalio/common';
import { decodeOptionalSinglePayload } from '@temporalio/common/lib/internal-non-workflow';
import type { DeployInput, DeployResult } from '../domain/deploy/state';
import type { ReleaseEnd } from '../domain/pipeline/reconcile';
import { workflowIds } from '../domain/ids';
import { KEEPS_FAILING } from '../domain/looks';
import { isOpenStatus } from '../domain/openStatus';
import type { DeployEnded, ReleaseResult } from '../domain/release/state';
import type { Settings } from '../domain/settings';
import { formatTime } from '../domain/text';
import { stopRun, type ActionRun } from './actionService';
import type { CallPorts } from './pushCalls';

type RemainsParts = CallPorts & { readonly client: Client };
type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;

/** Of a service that never answers again a run counts as over this long after its release, or its deploy; ms. */
export type StopPatience = Pick<Settings, 'cancelGraceMs' | 'dependencyGraceMs' | 'reconcileIntervalMs'>;

/**
 * How a release ended, and undefined while it runs. One that was ended from outside could stop nothing: the runs of its actions are
 * stopped here, under the keys that it would have used itself, and its deploys are looked at.
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
 * What a deploy that was ended from outside has left of the runs of its steps, which are stopped here; none of one that runs, that ended
 * by itself, or that nobody knows any more.
 * @returns why each of them is not over yet, until so long after its end.
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

/** Whether a workflow of this status was not ended from outside. */
export const isOwnEnd = (name: string): boolean => isOpenStatus(name) || name === 'COMPLETED';

async function stopAll(parts: RemainsParts, runs: readonly ActionRun[], patientUntilMs: number): Promise<string[]> {
  const isPatient = (await parts.clock.now()) < patientUntilMs;
  const left = await Promise.all(runs.map((run) => stopFailure(parts, run, isPatient)));
  return left.flatMap((why) => why ?? []);
}

/** @returns why it is not over yet. */
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
  { workflowId, action, artifacts, canary }: StartedDeploy,
  patience: StopPatience,
): Promise<{ settled?: DeployEnded; open?: readonly string[] }> {
  const handle = parts.client.workflow.getHandle(workflowId);
  try {
    const { status } = await handle.describe();
    if (isOpenStatus(status.name)) return { open: [`${workflowId} has not ended`] };
    if (status.name !== 'COMPLETED') return { open: await stepsLeft(parts, workflowId, patience.cancelGraceMs) };
    // A canary is none of those that the records are about.
    const result = (await handle.result()) as DeployResult | undefined;
    return canary || !result ? {} : { settled: { action, artifacts, result } };
  } catch (error) {
    // One that is forgotten says nothing about the others.
    if (error instanceof WorkflowNotFoundError) return {};
    throw error;
  }
}

type StartedDeploy = Pick<DeployInput, 'action' | 'artifacts' | 'canary'> & { readonly workflowId: string };

interface Remains {
  readonly runs: readonly ActionRun[];
  readonly deploys: readonly StartedDeploy[];
}

/**
 * Reads from the history of a release or deploy what it has begun: its deploys, and the runs that it does not know to be over. Strangers
 * may write a history too: if payloads are sealed, only what is sealed for its receiver counts as begun.
 */
async function remainsIn(client: Client, workflowId: string, { events }: History): Promise<Remains> {
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
    // Whoever gives up looking for a while says nothing of the run.
    const isGivenUp = failed?.failure?.applicationFailureInfo?.type === KEEPS_FAILING;
    const over = event.activityTaskCompletedEventAttributes ?? failed ?? event.activityTaskCanceledEventAttributes;
    if (over && !isGivenUp) runs.delete(String(over.scheduledEventId));
    const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
    if (child?.workflowType?.name !== 'deploy' || !child.workflowId) continue;
    deploys.push(startedDeploy(client, child.workflowId, child.input));
  }
  const left = (await Promise.all(runs.values())).flatMap((run) => run ?? []);
  return {
    runs: [...new Map(left.map((run) => [run.runId, run])).values()],
    deploys: (await Promise.all(deploys)).flatMap((deploy) => deploy ?? []),
  };
}

async function startedDeploy(client: Client, workflowId: string, input: Input): Promise<StartedDeploy | undefined> {
  const context = { type: 'workflow', namespace: client.options.namespace, workflowId } as const;
  const found = await firstPayload<DeployInput>(client, input, context);
  return found && { ...found, workflowId };
}

const RUNS: ReadonlySet<string> = new Set(['runAction', 'cancelAction']);

type Input = { readonly payloads?: Payload[] | null } | null | undefined;

const firstPayload = async <T>(client: Client, input: Input, context: SerializationContext): Promise<T | undefined> =>
  (await decodeOptionalSinglePayload<T>(client.options.loadedDataConverter, input?.payloads?.[0], context)) ??
  undefined;
