/** Runs `work` when its turn comes, and passes on its result or error. */
export type ConcurrencyGate = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets `limit` pieces of work run at once; the others wait. */
export function concurrencyGate(limit: number): ConcurrencyGate {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
