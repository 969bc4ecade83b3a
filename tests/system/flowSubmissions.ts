import { setTimeout as delay } from 'node:timers/promises';
import type { Artifact } from '../../domain/artifact';
import type { Service } from './service';

/** Submissions one after the other, at random moments from a seed, each repeated until it is answered. */
export class Submissions {
  private turn = 0;

  constructor(
    private readonly seed: number,
    private readonly submit: (shop: Service, n: number) => Promise<number>,
  ) {}

  /** Ships versions 2 and up, this many; returns the numbers of their releases. */
  async flow(shop: Service, releases: number): Promise<number[]> {
    const numbers: number[] = [];
    for (let n = 2; n < releases + 2; n += 1) {
      await delay(this.between(100, 1_500));
      // Some clients are impatient and send everything twice.
      const [number, again] = await Promise.all([this.answered(shop, n), n % 3 === 0 ? this.answered(shop, n) : null]);
      if (again !== null) expect(again).toBe(number);
      numbers.push(number);
    }
    return numbers;
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => [this.next(), item] as const)
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item);
  }

  private async answered(shop: Service, n: number): Promise<number> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.submit(shop, n);
      } catch (error) {
        if (attempt > 100) throw error;
        await delay(300);
      }
    }
  }

  /** In [0, 1). */
  private next(): number {
    this.turn += 1;
    const mixed = Math.sin(this.seed + this.turn * 12.9898) * 43_758.5453;
    return mixed - Math.floor(mixed);
  }
}

export const kvArtifact = (version: string): Artifact => ({
  ...{ name: 'executable', kind: 'executable', version, metadata: {} },
});
