import { setTimeout as pause } from 'node:timers/promises';

/** Limits the bytes a second of all users together. */
export class Throttle {
  private freeAt = 0;

  constructor(private readonly bytesPerSecond: number) {}

  /** Resolves when these bytes may be sent. */
  async take(bytes: number): Promise<void> {
    const now = performance.now();
    this.freeAt = Math.max(now, this.freeAt) + (bytes / this.bytesPerSecond) * 1000;
    await pause(this.freeAt - now);
  }
}
