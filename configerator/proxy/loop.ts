/**
 * Runs `step` repeatedly, one at a time, while there is work. Work that is added during a step is not missed: the loop stops at the same moment at
 * which it finds none left.
 */
export class Loop {
  private isRunning = false;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly isDue: () => boolean,
    private readonly step: () => Promise<void>,
    /** Called when it has stopped; it continues when woken. */
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
