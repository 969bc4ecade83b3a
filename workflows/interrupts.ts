import { CancellationScope, isCancellation } from '@temporalio/workflow';

/** How interruptible work ended: with its value, or by a reason. */
export type InterruptibleOutcome<T, R> =
  { readonly kind: 'done'; readonly value: T } | { readonly kind: 'interrupted'; readonly reason: R };

/** Work in this scope is interrupted as soon as there is a reason. */
class InterruptibleScope extends CancellationScope {
  constructor(readonly findReason: () => unknown) {
    super();
  }
}

/** Thrown by waits. Only the scope that has the reason catches it. */
class Interruption extends Error {
  constructor(
    readonly scope: InterruptibleScope,
    readonly reason: unknown,
  ) {
    super('the work under way is interrupted');
  }
}

export const isInterruption = (error: unknown): boolean => error instanceof Interruption;

/**
 * Does `work` until there is a reason to stop. The wait under way throws then (waitFor.ts), and so does each later one, except in
 * `CancellationScope.nonCancellable`. If interruptible work contains other such work, the reason of the outer one counts first.
 * @param findReason null if there is none.
 */
export async function runInterruptible<T, R>(
  findReason: () => R | null,
  work: () => Promise<T>,
): Promise<InterruptibleOutcome<T, R>> {
  const scope = new InterruptibleScope(findReason);
  try {
    const value = await scope.run(async () => {
      throwIfInterrupted();
      const done = await work();
      // A reason may have come during its clean-up, which throws nothing.
      throwIfInterrupted();
      return done;
    });
    return { kind: 'done', value };
  } catch (error) {
    if (!(error instanceof Interruption) || error.scope !== scope) throw error;
    // A reason of an outer scope counts first.
    throwIfInterrupted();
    // The error keeps the reason, which may be gone: an interrupted wait can take a while to end.
    return { kind: 'interrupted', reason: error.reason as R };
  }
}

/** The interruptible scopes around the present work, up to one that nothing interrupts; the outermost first. */
export function listInterruptibleScopes(): InterruptibleScope[] {
  const scopes = [];
  let scope: CancellationScope | undefined = CancellationScope.current();
  for (; scope?.cancellable; scope = scope.parent) if (scope instanceof InterruptibleScope) scopes.unshift(scope);
  return scopes;
}

export function findInterruption(scopes: readonly InterruptibleScope[]): Interruption | undefined {
  for (const scope of scopes) {
    const reason = scope.findReason();
    if (reason !== null) return new Interruption(scope, reason);
  }
  return undefined;
}

/** For work that has not waited for a while. */
export function throwIfInterrupted(): void {
  const interruption = findInterruption(listInterruptibleScopes());
  if (interruption) throw interruption;
}

/** Interrupts the work that calls it, which has just given the reason itself. */
export function interrupt(): never {
  throwIfInterrupted();
  throw new Error('there is no reason to interrupt');
}

/** Does `work` while `other` runs beside it. The end of the work ends `other`. */
export async function runBeside<T>(other: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  const scope = new CancellationScope();
  const running = scope.run(other).catch((error: unknown) => {
    // An interruption of both is thrown by the work too.
    if (!isCancellation(error) && !isInterruption(error)) throw error;
  });
  try {
    return await work();
  } finally {
    scope.cancel();
    await running;
  }
}
