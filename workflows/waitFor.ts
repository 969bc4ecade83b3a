import { CancellationScope, condition } from '@temporalio/workflow';
import { findInterruption, listInterruptibleScopes, throwIfInterrupted } from './interrupts';

/** How work ended by itself. */
export type Settled<T> =
  { readonly kind: 'done'; readonly value: T } | { readonly kind: 'failed'; readonly error: unknown };

/** How a wait ended. */
export type WaitOutcome<T> = Settled<T> | { readonly kind: 'woken' } | { readonly kind: 'timeout' };

export interface Timeout {
  readonly afterMs: number;
  /** Shown in the Web UI. */
  readonly summary: string;
}

export interface EndOptions {
  /** If the wait ends early, it still waits for the work to end, so that no later call overtakes it. */
  readonly awaitsEnd?: boolean;
}

export interface WaitOptions extends EndOptions {
  /** Ends the wait early. */
  readonly wake?: () => boolean;
  readonly timeout?: Timeout | undefined;
}

/** Work that continues alongside a workflow, or was given up but has not ended; the workflow waits for it before it closes. */
export class BackgroundTasks {
  private readonly running = new Set<Promise<void>>();

  add(work: Promise<void>): void {
    this.running.add(work);
    void work.then(() => this.running.delete(work));
  }

  get size(): number {
    return this.running.size;
  }

  async drain(): Promise<void> {
    await Promise.all(this.running);
  }
}

const never = () => false;

/**
 * Runs `start` until it ends, `wake` becomes true or the time is up, whichever is first; in the latter two cases it
 * gives `start` up. A wake-up wins over a result that arrived in the same moment, so that a command is never overtaken.
 * @throws an interruption, if the work around it is interrupted; that wins over all of these.
 */
export async function waitFor<T>(
  background: BackgroundTasks,
  start: () => Promise<T>,
  { wake = never, timeout, awaitsEnd = false }: WaitOptions,
): Promise<WaitOutcome<T>> {
  throwIfInterrupted();
  if (wake()) return { kind: 'woken' };
  const scope = new CancellationScope();
  let ended: WaitOutcome<T> | undefined;
  const work = scope.run(start).then(
    (value) => void (ended = { kind: 'done', value }),
    (error: unknown) => void (ended = { kind: 'failed', error }),
  );
  background.add(work);
  try {
    const inTime = await until(() => ended !== undefined || wake(), timeout);
    if (wake()) return { kind: 'woken' };
    return ended ?? { kind: inTime ? 'woken' : 'timeout' };
  } finally {
    scope.cancel();
    if (awaitsEnd) await work;
  }
}

/** Runs `start` to its end. @throws an interruption, as `waitFor` does. */
export async function settle<T>(
  background: BackgroundTasks,
  start: () => Promise<T>,
  options: EndOptions = {},
): Promise<Settled<T>> {
  const waited = await waitFor(background, start, options);
  // Neither can happen without a wake-up and a timeout.
  if (waited.kind === 'woken' || waited.kind === 'timeout') throw new Error('the wait ended without its work');
  return waited;
}

/**
 * Waits for a condition, at most as long as given; false if the time was up first.
 * @throws an interruption, if the work around it is interrupted.
 */
export async function until(wake: () => boolean, timeout?: Timeout): Promise<boolean> {
  // Temporal evaluates conditions outside the scope, so they cannot look it up.
  const scopes = listInterruptibleScopes();
  let interruption = findInterruption(scopes);
  if (interruption) throw interruption;
  if (wake()) return true;
  // A reason that is gone again before this continues has interrupted it all the same.
  const isOver = () => (interruption ??= findInterruption(scopes)) !== undefined || wake();
  let inTime = true;
  if (timeout) inTime = await condition(isOver, timeout.afterMs, { summary: timeout.summary });
  else await condition(isOver);
  interruption ??= findInterruption(scopes);
  if (interruption) throw interruption;
  return inTime;
}

/** Waits for a time. @throws an interruption, as `until` does. */
export async function waitOut(time: Timeout): Promise<void> {
  await until(never, time);
}
