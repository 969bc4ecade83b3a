import { randomBytes } from 'node:crypto';
import { conveyorError, type ConveyorError } from '../../domain/errors';
import type { Io } from '../io';
import { printNote } from '../output';
import { stackEnvironment, isLocal, parseHost, type Addresses } from './addresses';
import { childFailure, startChild, awaitReady } from './child';
import type { ConfigStack } from './configuration';
import { keepRunning, type RunningPart } from './keepRunning';
import {
  configProxyPart,
  configServicePart,
  etcdPart,
  serverPart,
  simulatorPart,
  temporalPart,
  workerPart,
  type StackPart,
  type PartName,
  type StackOptions,
} from './parts';
import { accepts } from '../../client/accepts';
import type { LinkSignIn } from '../../settings/signInLink';

/** A running development stack: its parts, and how to stop it. */
export interface Stack {
  readonly addresses: Addresses;
  readonly config: ConfigStack | undefined;
  readonly archive: string | undefined;
  /** How its server signs the user in to pages; undefined for a stack of another command. */
  readonly signIn?: LinkSignIn | undefined;
  /** The processes that this stack started, without parts that ran before. */
  readonly pids: () => Readonly<Partial<Record<PartName, number>>>;
  readonly logFolder: string;
  readonly startedBy: string;
  /** Resolves when a process that this stack started ends by itself. */
  readonly died: Promise<ConveyorError>;
  /**
   * From now on restarts parts that end by themselves, with a note; calls `onStarted` for each that is ready again.
   * Resolves when it gives up on one.
   */
  keepUp(onStarted: (name: PartName) => Promise<void>): Promise<ConveyorError>;
  /** Stops exactly what it started, in the reverse order. */
  stop(): Promise<void>;
  /** Leaves everything running when this process ends. */
  leave(): void;
}

/** How often a part is started that ends by accident before it is ready. */
const STARTS = 3;

export type StackSettings = Omit<StackOptions, 'env'>;

/**
 * Starts the parts that do not run yet, and waits until everything answers. If something cannot start, or `stop` is
 * aborted meanwhile, it ends the parts that it started before it throws; undefined means that it was interrupted.
 */
export async function startStack(io: Io, settings: StackSettings, stop: AbortSignal): Promise<Stack | undefined> {
  // The secret with which its worker and server authenticate runs of action services (callbacks of
  // conveyor.config.yaml).
  const secret = { CONVEYOR_CALLBACK_SECRET: io.env.CONVEYOR_CALLBACK_SECRET || randomBytes(32).toString('hex') };
  const { config, archive } = settings;
  const options = {
    ...settings,
    env: { ...io.env, ...stackEnvironment(settings), ...secret },
  };
  const started: RunningPart[] = [];
  const stopping = new AbortController();
  const stopAll = async (): Promise<void> => {
    stopping.abort();
    for (const { child } of [...started].reverse()) await child.stop();
  };
  const failed = new AbortController();
  const either = AbortSignal.any([stop, failed.signal]);
  const ensure = (part: StackPart): Promise<void> =>
    ensurePart(io, part, either, started).catch((error: unknown) => {
      // The others are only stopped, not awaited.
      failed.abort();
      throw error;
    });
  try {
    // The worker, the server and the configuration service need Temporal; the simulator and etcd need no other part.
    const first = [temporalPart(options), simulatorPart(options), ...(config ? [etcdPart(options, config)] : [])];
    await allOrFirstFailure(first.map(ensure));
    const configured = config ? [configServicePart(options, config), configProxyPart(options, config)] : [];
    const then = [workerPart(options), serverPart(options), ...configured];
    if (!stop.aborted) await allOrFirstFailure(then.map(ensure));
  } catch (error) {
    await stopAll();
    throw error;
  }
  if (stop.aborted) {
    await stopAll();
    return undefined;
  }
  return {
    ...{ addresses: options.addresses, config, archive, signIn: options.signIn },
    pids: () => Object.fromEntries(started.map(({ part, child }) => [part.name, child.pid])),
    ...{ logFolder: options.logFolder, startedBy: options.startedBy },
    died: Promise.race(started.map(({ child }) => child.died.then((how) => childFailure(child, how)))),
    keepUp: (onStarted) => {
      const keeper = { io, stop: stopping.signal, onStarted };
      return Promise.race(started.map((one) => keepRunning(keeper, one)));
    },
    stop: stopAll,
    leave: () => started.forEach(({ child }) => child.leave()),
  };
}

async function ensurePart(io: Io, part: StackPart, stop: AbortSignal, started: RunningPart[]): Promise<void> {
  if (await part.isThere()) return printNote(io, `  ✔ ${part.name} at ${part.address} was already there`);
  if (part.port !== null) await requireOurs(part, part.port);
  const from = io.now();
  const running = { part, child: startChild(part.child) };
  started.push(running);
  await becomeReady(io, running, stop);
  if (!stop.aborted)
    printNote(io, `  ✔ ${part.name} ready at ${part.address} (${((io.now() - from) / 1000).toFixed(1)} s)`);
}

async function becomeReady(io: Io, running: RunningPart, stop: AbortSignal): Promise<void> {
  const { part } = running;
  for (let left = STARTS; ; left--) {
    try {
      return await awaitReady(io, running.child, part.child, part.timeoutMs, stop);
    } catch (error) {
      if (left === 1 || part.child.endedByChance?.(running.child.log()) !== true) throw error;
      printNote(io, `  ✖ ${part.name}: another process took a port that it had chosen; starting it again`);
      running.child = startChild(part.child, { again: true });
    }
  }
}

/** A part on another machine cannot be started from here, and a part cannot listen on a taken port. */
async function requireOurs(part: StackPart, port: number): Promise<void> {
  if (!isLocal(part.address)) {
    const detail = 'it is on another machine, so it cannot be started here';
    if (part.name === 'temporal') throw conveyorError('temporal-unreachable', { address: part.address, detail });
    if (part.name === 'etcd') throw conveyorError('store-unavailable', { store: part.address, detail });
    throw conveyorError('simulator-unreachable', { url: part.address, detail });
  }
  if (await accepts(parseHost(part.address), port)) throw conveyorError('port-in-use', { port, process: part.name });
}

/** Waits for all of them even if one fails, so that every started process is known and can be stopped. */
async function allOrFirstFailure(steps: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(steps);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
