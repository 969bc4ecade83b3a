/** Sleeps that end when a test says so, or when their signal is aborted. */
export class Sleeps {
  readonly waiting: { readonly ms: number; readonly end: () => void }[] = [];
  private arrivals: (() => void)[] = [];

  sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const one = {
        ms,
        end: () => {
          this.waiting.splice(this.waiting.indexOf(one), 1);
          resolve();
        },
      };
      this.waiting.push(one);
      for (const arrive of this.arrivals.splice(0)) arrive();
      if (signal.aborted) one.end();
      else signal.addEventListener('abort', () => this.waiting.includes(one) && one.end(), { once: true });
    });

  /** Resolves at the next sleep from now on. */
  next(): Promise<void> {
    return new Promise((resolve) => this.arrivals.push(resolve));
  }

  /** Ends the sleep of the only one who sleeps; resolves at the next sleep. */
  async pass(): Promise<void> {
    const next = this.next();
    this.waiting[0]?.end();
    await next;
  }
}
