import { CancellationScope, sleep } from '@temporalio/workflow';

/**
 * One timer for the earliest due time, kept until it rings. Setting it again at every event would cost two history
 * events each time. It may ring for something that is no longer due.
 */
export class Alarm {
  private dueMs = Infinity;
  private scope: CancellationScope | undefined;

  constructor(private readonly ring: () => void) {}

  set(atMs: number, summary: string): void {
    if (atMs >= this.dueMs) return;
    this.scope?.cancel();
    const scope = new CancellationScope();
    [this.dueMs, this.scope] = [atMs, scope];
    const wait = (): Promise<void> => sleep(Math.max(1, atMs - Date.now()), { summary });
    void scope.run(wait).then(
      () => this.rang(scope),
      () => undefined,
    );
  }

  private rang(scope: CancellationScope): void {
    if (this.scope !== scope) return;
    [this.dueMs, this.scope] = [Infinity, undefined];
    this.ring();
  }
}
