import { noWorkerWords, type Build } from '../domain/builds';
import { conveyorError } from '../domain/errors';
import type { Poller } from '../domain/examination';
import { formatTime, lastPollWords } from '../domain/text';
import type { ReadinessPart } from './api';
import type { Temporal } from './connection';

/** A probe that takes longer is useless. */
const READINESS_TIMEOUT_MS = 2_000;
/** A value of grpc.health.v1. */
const SERVING = 1;
/** The workflow part of a task queue, as opposed to activities. */
export const OF_WORKFLOWS = 1;

/** Whether the Temporal server reports that it serves, and whether a worker polls. Asks no workflow; never throws. */
export async function temporalReadiness(
  { connection, client, address, namespace }: Temporal,
  taskQueue: string,
): Promise<readonly ReadinessPart[]> {
  const within = <T>(call: () => Promise<T>): Promise<T> =>
    client.withDeadline(Date.now() + READINESS_TIMEOUT_MS, call);
  const temporal = async (): Promise<string | undefined> => {
    const { status } = await connection.healthService.check({ service: SERVICE });
    return status === SERVING ? undefined : 'the Temporal server does not serve';
  };
  const worker = async (): Promise<string | undefined> => {
    const { isPolled: isThere, lastPollAt, build } = await readPolling({ client, namespace }, taskQueue);
    return isThere
      ? undefined
      : `${noWorkerWords(build)} polls the task queue ${taskQueue}${lastPollWords(lastPollAt)}`;
  };
  const part = async (
    name: ReadinessPart['name'],
    look: () => Promise<string | undefined>,
    silent: (why: string) => string,
  ): Promise<ReadinessPart> => {
    const why = await within(look).catch((error: unknown) =>
      silent(error instanceof Error ? error.message : String(error)),
    );
    return { name, ok: why === undefined, detail: why ?? 'answers' };
  };
  const noServer = (detail: string): string => conveyorError('temporal-unreachable', { address, detail }).message;
  const noWord = (detail: string): string => `Temporal does not say who polls the task queue ${taskQueue} (${detail})`;
  return Promise.all([part('temporal', temporal, noServer), part('worker', worker, noWord)]);
}

/** The workers that poll a task queue and would get its work. */
export interface PollingState {
  /** Whether a worker has polled within two minutes. */
  readonly isPolled: boolean;
  /** The build that the work is for, if workers have builds. */
  readonly build?: Build;
  /** RFC 3339; null if the server remembers none, which it forgets after some minutes. */
  readonly lastPollAt: string | null;
}

/**
 * A worker polls at least once a minute, because Temporal ends a poll by then; the rest allows for clock differences.
 */
const POLLED_WITHIN_MS = 120_000;

/** For new work, or for the work of one build. */
export async function readPolling(
  temporal: Pick<Temporal, 'client' | 'namespace'>,
  taskQueue: string,
  wanted?: Build,
): Promise<PollingState> {
  return judgePolling(await workersAt(temporal, taskQueue), wanted);
}

/** The same, for workers already read. */
export function judgePolling({ current, lastPolls }: QueueWorkers, wanted?: Build, nowMs = Date.now()): PollingState {
  const build = wanted === undefined ? current : wanted;
  const named = build === null && lastPolls.every(([one]) => one === null) ? {} : { build };
  const last = lastPolls.find(([one]) => one === build)?.[1];
  if (last === undefined) return { isPolled: false, lastPollAt: null, ...named };
  return { isPolled: isRecent(last, nowMs), lastPollAt: formatTime(last), ...named };
}

export interface QueueWorkers {
  /** The build that gets new work. */
  readonly current: Build;
  /** The last poll of each build's workers, in ms. */
  readonly lastPolls: readonly (readonly [Build, number])[];
  /** Pollers in Temporal's list, which keeps them for some minutes. */
  readonly pollers: readonly (Poller & { readonly atMs: number })[];
}

/** @param nowMs by Temporal's clock, if it is known to differ from ours */
export const isRecent = (lastPollMs: number, nowMs: number): boolean => nowMs - lastPollMs < POLLED_WITHIN_MS;

/** The workers of a task queue, by build. */
export async function workersAt(
  { client, namespace }: Pick<Temporal, 'client' | 'namespace'>,
  taskQueue: string,
): Promise<QueueWorkers> {
  const { pollers, versioningInfo } = await client.workflowService.describeTaskQueue({
    ...{ namespace, taskQueue: { name: taskQueue }, taskQueueType: OF_WORKFLOWS },
  });
  const lastPolls = new Map<Build, number>();
  const listed: QueueWorkers['pollers'][number][] = [];
  for (const { identity, lastAccessTime, deploymentOptions } of pollers ?? []) {
    const isOfBuild = deploymentOptions?.workerVersioningMode === VERSIONED;
    const build = isOfBuild ? (deploymentOptions.buildId ?? null) : null;
    const atMs = lastAccessTime?.seconds ? Number(lastAccessTime.seconds) * 1000 : Date.now();
    lastPolls.set(build, Math.max(atMs, lastPolls.get(build) ?? 0));
    listed.push({ identity: identity || 'a worker without a name', build, lastPollAt: formatTime(atMs), atMs });
  }
  const current = versioningInfo?.currentDeploymentVersion?.buildId || null;
  return { current, lastPolls: [...lastPolls], pollers: listed };
}

/** A value of temporal.api.enums.v1.WorkerVersioningMode. */
const VERSIONED = 2;

/** The workers as an additional detail: undefined if the server does not answer at once. */
export const workersWithin = (temporal: Temporal, taskQueue: string): Promise<QueueWorkers | undefined> =>
  temporal.client
    .withDeadline(Date.now() + READINESS_TIMEOUT_MS, () => workersAt(temporal, taskQueue))
    .catch(() => undefined);

export const isPolled = async (...asked: Parameters<typeof readPolling>): Promise<boolean> =>
  (await readPolling(...asked)).isPolled;

const SERVICE = 'temporal.api.workflowservice.v1.WorkflowService';
