/** A signal between tasks. Several rings before a wait count as one. */
export class Bell {
  private hasRung = false;
  private wake: (() => void) | undefined;

  ring = (): void => {
    this.hasRung = true;
    this.wake?.();
  };

  /** Waits for a ring, at most this many ms. Resolves to whether it rang. */
  async wait(ms: number): Promise<boolean> {
    if (!this.hasRung)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.wake = undefined;
    const rang = this.hasRung;
    this.hasRung = false;
    return rang;
  }
}
