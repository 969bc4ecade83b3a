import { ApplicationFailure, Context } from '@temporalio/activity';
import type { PlannedTarget } from '../domain/deploy/plan';
import type { Canary } from '../domain/mutex';
import { FLEET_LIMITS } from '../domain/fleet/limits';
import { unitNames } from '../domain/deploy/unavailable';
import { conveyorError } from '../domain/errors';
import { workflowIds } from '../domain/ids';
import { callExtension } from '../sdk/client';
import { sha256 } from '../sdk/digest';
import type { Fetch } from '../sdk/request';
import type { RequestInput, ResponseOf } from '../sdk/protocol/common';
import type { Contradiction } from '../sdk/protocol/contradictions/rules';
import { pushTypeProtocol, type PushTypeProtocol } from '../sdk/protocol/pushType';
import type { Registry } from '../settings/registry';
import { awaitLastAnswer, REVERT_PATIENCE_MS, type Clock } from './clock';
import type { Authority, ReadPlatform } from './authority';
import { asFailure } from './failure';
import type { ReadCanaries } from './canaryReader';
import type { SnapshotStore } from './snapshots';

/** Calls of push types: the caller, the idempotency key, and the portions. */

/** The caller, for the `context` of every request, and the push type's name in the registry. */
export interface DeployCall extends Authority {
  readonly pushType: string;
  readonly pipeline: string;
  readonly release: number;
  readonly deployId: string;
  /** Null before the push type has answered. */
  readonly service?: string | null;
  /** The fence of the lock that the deploy holds. */
  readonly fence?: number;
  readonly actor: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** The push type returns its units in pages, and takes updates in several requests. */
  readonly inPages?: boolean;
}

export interface CallPorts {
  /** Left out if there can be no canaries. */
  readonly canaries?: ReadCanaries;
  readonly registry: Registry;
  /** The rules of access in the present configuration. */
  readonly platform?: ReadPlatform;
  readonly clock: Clock;
  readonly fetch?: Fetch;
}

/** The dependencies of the activities of deploys. */
export interface PushPorts extends CallPorts {
  readonly snapshots: SnapshotStore;
}

type PushMethods = PushTypeProtocol;
export type Invoke = <M extends keyof PushMethods & string>(
  call: DeployCall,
  method: M,
  request: RequestInput<PushMethods[M]>,
  key?: string,
) => Promise<ResponseOf<PushMethods[M]>>;

export const invoker =
  ({ registry, fetch }: CallPorts): Invoke =>
  (call, method, request, key) => {
    const { pushType, pipeline, release, deployId, actor, config, fence } = call;
    const held = fence === undefined ? {} : { fence };
    const ask = (signal: AbortSignal) =>
      callExtension({
        service: registry.find('push-type', pushType),
        protocol: pushTypeProtocol,
        method,
        request,
        context: { pipeline, release, deployId, actor, config: { ...config }, ...held },
        runId: deployId,
        signal,
        ...(key === undefined ? {} : { key }),
        ...(fetch === undefined ? {} : { fetch }),
      });
    const { cancellationSignal } = Context.current();
    return asFailure(async () => {
      const answer = await (AWAITED.has(method) ? awaitLastAnswer(cancellationSignal, ask) : ask(cancellationSignal));
      refuseOtherService(call, method, answer);
      return answer;
    });
  };

/** The lock belongs to one service. @throws extension-protocol if the push type now names another service */
function refuseOtherService(call: DeployCall, method: string, answer: object): void {
  const { service } = call;
  if (!service || !('service' in answer) || answer.service === service) return;
  const detail = `${String(answer.service)}, and before it was ${service}`;
  throw contradicts(call, method, { field: 'service', detail });
}

/** An answer that contradicts an earlier one of the push type. */
export const contradicts = ({ pushType: service }: DeployCall, method: string, { field, detail }: Contradiction) =>
  conveyorError('extension-protocol', { service, method, field, detail });

/** A caller that cancels one of these waits for it. */
const AWAITED: ReadonlySet<string> = new Set(['executeUpdates', 'removeUnits', 'shiftTraffic']);

/** Other canaries on the service. A rollback does not wait for a silent lock, and takes their tasks along. */
export async function otherCanaries(
  { canaries }: CallPorts,
  { pushType, service, deployId, back }: DeployCall,
): Promise<readonly Canary[]> {
  if (canaries === undefined || !service) return [];
  const lockId = workflowIds.serviceLock(pushType, service);
  const present = await (back ? canaries(lockId, REVERT_PATIENCE_MS).catch(() => []) : canaries(lockId));
  return present.filter(({ requester }) => requester !== deployId);
}

/** The updates of canaries, whose tasks are reserved for them. */
export const listCanaryUpdates = (canaries: readonly Canary[]): string[] => canaries.flatMap(({ updates }) => updates);

export const findReservedUpdates = async (ports: CallPorts, call: DeployCall): Promise<string[]> =>
  listCanaryUpdates(await otherCanaries(ports, call));

/** Calls an optional method of a push type. @returns false if the push type does not have it. */
export async function callIfOffered(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (error instanceof ApplicationFailure && error.type === 'extension-lacks-method') return false;
    throw error;
  }
}

/** A repetition with other canaries is a different request, although the push type knows its update id. */
export const pushRequestKey = (name: string, exclude: readonly string[]): string =>
  exclude.length === 0 ? name : `${name}/${hashTexts(exclude)}`;

/** The key of a request without an update id. After a restore, another run may have the name of a lost one, and must not get its answers. */
export const keyOfRun = (name: string): string =>
  `${name}/${Context.current().info.workflowExecution?.runId ?? 'no-workflow'}`;

/** A short name for a list of texts. */
export const hashTexts = (texts: readonly string[]): string => sha256(texts.join()).slice(0, 16);

/** A request about some of the items; it has the key of the whole if it has all of them. */
interface Chunk<T> {
  readonly items: readonly T[];
  readonly key: (name: string) => string;
}

/**
 * Splits items into portions that a push type takes at once. The same items make the same portions, under the same
 * keys.
 */
export function inChunks<T>(call: DeployCall, items: readonly T[], idOf: (item: T) => string): Chunk<T>[] {
  const { chunk } = FLEET_LIMITS;
  if (items.length === 0) return [];
  if (!call.inPages || items.length <= chunk) return [{ items, key: (name) => name }];
  return Array.from({ length: Math.ceil(items.length / chunk) }, (_, nth) => {
    const some = items.slice(nth * chunk, (nth + 1) * chunk);
    return { items: some, key: (name) => `${name}/${hashTexts(some.map(idOf))}` };
  });
}

/** Portions that are under way at the same time. */
export const CHUNKS_AT_ONCE = 4;

/** Asks about each portion, and joins the answers in order. */
export async function eachChunk<T, A>(
  call: DeployCall,
  items: readonly T[],
  idOf: (item: T) => string,
  ask: (chunk: Chunk<T>) => Promise<readonly A[]>,
): Promise<A[]> {
  const chunks = inChunks(call, items, idOf);
  const answers: (readonly A[])[] = [];
  for (let next = 0; next < chunks.length; next += CHUNKS_AT_ONCE)
    answers.push(...(await Promise.all(chunks.slice(next, next + CHUNKS_AT_ONCE).map(ask))));
  return answers.flat();
}

/** Sends the portions of a request that has no answer. */
export async function sendEach<T>(
  call: DeployCall,
  items: readonly T[],
  idOf: (item: T) => string,
  send: (chunk: Chunk<T>) => Promise<unknown>,
): Promise<void> {
  await eachChunk(call, items, idOf, async (chunk) => {
    await send(chunk);
    return [];
  });
}

export const getTargetUnit = ({ unit }: PlannedTarget): string => unit;

/**
 * The distance of each unit from its wanted version (`needsPush`). @throws extension-rejected if the answer leaves units out, since that does not
 * mean that they need nothing
 */
export async function unitNeeds(
  invoke: Invoke,
  call: DeployCall,
  targets: readonly PlannedTarget[],
  exclude: readonly string[],
) {
  const needs = await eachChunk(call, targets, getTargetUnit, async ({ items }) => {
    return (await invoke(call, 'needsPush', toWire(call, items, exclude))).units;
  });
  const known = new Set(needs.map(({ id }) => id));
  const silent = targets.map(getTargetUnit).filter((id) => !known.has(id));
  if (silent.length === 0) return needs;
  throw ApplicationFailure.nonRetryable(`needsPush says nothing of ${unitNames(silent)}`, 'extension-rejected');
}

/**
 * Targets in the form of a request: in full for a push type that knows no pages, else with the common fields only once.
 */
export function toWire({ inPages }: DeployCall, targets: readonly PlannedTarget[], exclude: readonly string[]) {
  if (!inPages) return { targets: targets.map((target) => wireTarget(target, exclude)) };
  const [first] = targets;
  if (first === undefined) return { targets: [] };
  const { unit: _unit, amount, ...common } = wireTarget(first, exclude);
  const isSame = targets.every((target) => JSON.stringify(target.amount) === JSON.stringify(amount));
  const lean = targets.map((target) => ({
    unit: target.unit,
    ...(target.version === common.version ? {} : { version: target.version }),
    ...(isSame || target.amount === undefined ? {} : { amount: target.amount }),
  }));
  return { targets: lean, common: { ...common, ...(isSame && amount ? { amount } : {}) } };
}

/** Targets travel through workflows read-only; a request needs mutable arrays. */
const wireTarget = (target: PlannedTarget, exclude: readonly string[]) => ({
  ...target,
  artifacts: target.artifacts.map((artifact) => ({ ...artifact, metadata: { ...artifact.metadata } })),
  updatedBy: target.updatedBy === undefined ? undefined : [...target.updatedBy],
  ...(exclude.length > 0 ? { exclude: [...exclude] } : {}),
});
