/** Reads that may be made together: all who ask for a key meanwhile get the answer to one read, which began after they asked. */
export class SharedReads<T> {
  private readonly reads = new Map<string, RunningRead<T>>();

  constructor(private readonly read: (key: string) => Promise<T>) {}

  get(key: string): Promise<T> {
    const running = this.reads.get(key);
    return running === undefined ? this.begin(key) : (running.next ??= running.over.then(() => this.begin(key)));
  }

  private begin(key: string): Promise<T> {
    const answer = this.read(key);
    const over = answer.then(
      () => undefined,
      () => undefined,
    );
    const reading: RunningRead<T> = { over, next: undefined };
    this.reads.set(key, reading);
    void over.then(() => {
      if (reading.next === undefined) this.reads.delete(key);
    });
    return answer;
  }
}

interface RunningRead<T> {
  readonly over: Promise<void>;
  /** For those who have asked since this one began. */
  next: Promise<T> | undefined;
}
