/**
 * Does `step` after `step`, one at a time, for as long as there is something to do. What is added while one runs is not overlooked: that
 * nothing is left and that it has stopped are one moment.
 */
export class Loop {
  private isRunning = false;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly isDue: () => boolean,
    private readonly step: () => Promise<void>,
    /** It has stopped, and continues when it is woken. */
    private readonly onError: (error: unknown) => void,
  ) {}

  wake(): void {
    if (this.isRunning || !this.isDue()) return;
    this.isRunning = true;
    this.running = this.run();
  }

  /** Resolves once it has stopped. */
  awaitStop(): Promise<void> {
    return this.running;
  }

  private async run(): Promise<void> {
    try {
      while (this.isDue()) await this.step();
    } catch (error) {
      this.onError(error);
    } finally {
      this.isRunning = false;
    }
  }
}
