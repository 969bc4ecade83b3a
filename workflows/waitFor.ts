import { CancellationScope, condition } from '@temporalio/workflow';

/** How a wait ended. */
export type WaitOutcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'woken' }
  | { readonly kind: 'timeout' };

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

  async drained(): Promise<void> {
    await Promise.all(this.running);
  }
}

/**
 * Runs `start` until it ends, `wake` becomes true or the time is up, whichever is first; in the latter two cases it
 * gives `start` up. A wake-up wins over a result that arrived in the same moment, so that a command is never overtaken.
 */
export async function waitFor<T>(
  background: BackgroundTasks,
  start: () => Promise<T>,
  wake: () => boolean,
  timeout?: { readonly afterMs: number; readonly summary: string },
): Promise<WaitOutcome<T>> {
  if (wake()) return { kind: 'woken' };
  const scope = new CancellationScope();
  let ended: WaitOutcome<T> | undefined;
  const work = scope.run(start).then(
    (value) => void (ended = { kind: 'done', value }),
    (error: unknown) => void (ended = { kind: 'failed', error }),
  );
  background.add(work);
  const over = () => ended !== undefined || wake();
  const inTime = timeout
    ? await condition(over, timeout.afterMs, { summary: timeout.summary })
    : await condition(over).then(() => true);
  if (wake()) ended = { kind: 'woken' };
  if (!inTime && ended === undefined) ended = { kind: 'timeout' };
  scope.cancel();
  return ended ?? { kind: 'woken' };
}
