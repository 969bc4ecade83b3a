import type { ConveyorError } from '../../domain/errors';
import type { Io } from '../io';
import { printNote } from '../output';
import { childFailure, startChild, awaitReady, type Child } from './child';
import type { StackPart, PartName } from './parts';
import { planRestart } from './restarts';

/** A part of the stack with its present process. */
export interface RunningPart {
  readonly part: StackPart;
  child: Child;
}

export interface Keeper {
  readonly io: Io;
  /** Aborted when the stack is stopped: processes then end on purpose. */
  readonly stop: AbortSignal;
  onStarted(name: PartName): Promise<void>;
}

/** Restarts a part whenever it ends by itself, as long as that helps; resolves when it gives up, never after a stop. */
export async function keepRunning(keeper: Keeper, started: RunningPart): Promise<ConveyorError> {
  const { io, stop } = keeper;
  const deaths: number[] = [];
  // The output of all runs, because the last run may have ended before it wrote anything.
  const { log } = started.child;
  for (;;) {
    const how = await started.child.died;
    if (stop.aborted) return new Promise(() => undefined);
    deaths.push(io.now());
    const { times, delayMs } = planRestart(deaths);
    if (delayMs === null)
      return childFailure({ ...started.child, log }, `${how}, for the ${times}th time within a minute`);
    printNote(io, `  ✖ ${started.part.name}: ${how}; starting it again in ${delayMs / 1000} s`);
    await io.sleep(delayMs, stop);
    if (stop.aborted) return new Promise(() => undefined);
    const trouble = await startAgain(keeper, started).catch((error: ConveyorError) => error);
    if (trouble !== undefined) return trouble;
  }
}

/** @throws ConveyorError if it is not ready in time; the caller that waits for it reports its death */
async function startAgain({ io, stop, onStarted }: Keeper, started: RunningPart): Promise<void> {
  const { part } = started;
  const from = io.now();
  const child = startChild(part.child, { again: true });
  started.child = child;
  const died = child.died.then(() => 'died' as const);
  const ready = awaitReady(io, child, part.child, part.timeoutMs, stop).then(() => 'ready' as const);
  ready.catch(() => undefined);
  if ((await Promise.race([died, ready])) === 'died' || stop.aborted) return;
  printNote(io, `  ✔ ${part.name} ready again at ${part.address} (${((io.now() - from) / 1000).toFixed(1)} s)`);
  await onStarted(part.name).catch((error: Error) => printNote(io, `  ✖ ${part.name}: ${error.message}`));
}
