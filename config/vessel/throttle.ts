import { setTimeout as pause } from 'node:timers/promises';

/** So many bytes a second and no more, for all who take from it together. */
export class Throttle {
  private freeAt = 0;

  constructor(private readonly bytesPerSecond: number) {}

  /** Resolves when these bytes would have gone through. */
  async take(bytes: number): Promise<void> {
    const now = performance.now();
    this.freeAt = Math.max(now, this.freeAt) + (bytes / this.bytesPerSecond) * 1000;
    await pause(this.freeAt - now);
  }
}
