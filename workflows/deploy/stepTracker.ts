/** The steps before and after phases that a deploy has begun: the last one may still run after an interruption or a timeout has ended the wait for it. */
export class StepTracker {
  private last: Promise<unknown> = Promise.resolve();
  private scripts = 0;

  /** A step has begun. Its undo waits until it has ended, even if it is given up. */
  begin<T>(step: Promise<T>): Promise<T> {
    this.last = step.catch(() => undefined);
    return step;
  }

  /** Resolves when the step that began last has ended. */
  awaitLast(): Promise<unknown> {
    return this.last;
  }

  /** Counts one more script. @returns the number of scripts in this history. */
  countScript(): number {
    this.scripts += 1;
    return this.scripts;
  }
}
