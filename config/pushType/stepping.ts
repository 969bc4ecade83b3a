import { concurrencyGate } from '../../sdk/concurrency';
import type { ConfigFleet } from './fleet';

export interface SteppingPorts {
  /** Resolves after so long, or when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: (line: string) => void;
}

const EVERY_MS = 500;
/** Once a minute. */
const STEPS_PER_SWEEP = 120;
/** One whose store is slow waits for that alone. */
const AT_ONCE = 16;

/** Steps what moves, also when nobody asks for it: after a restart, and once a deploy has been given up. */
export class Stepping {
  /** Why services make no step, by name. */
  readonly troubles = new Map<string, string>();

  constructor(
    private readonly fleet: Pick<ConfigFleet, 'services' | 'moving' | 'step' | 'sweep'>,
    private readonly ports: SteppingPorts,
  ) {}

  /** Resolves once the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    let due: readonly string[] = this.fleet.services;
    for (let step = 1; !signal.aborted; step += 1) {
      await this.each(due, (name) => this.step(name));
      // What keeps a sweep from its store is said by whatever needs it; the next one comes in a minute.
      if (step % STEPS_PER_SWEEP === 0)
        await this.each(this.fleet.services, (name) => this.fleet.sweep(name).catch(() => undefined));
      await this.ports.sleep(EVERY_MS, signal);
      this.forget();
      due = [...new Set([...this.fleet.moving, ...this.troubles.keys()])];
    }
  }

  private async each(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
    const turn = concurrencyGate(AT_ONCE);
    await Promise.all(names.map((name) => turn(() => work(name))));
  }

  /** Nothing is to be done for a service that has made room for another. */
  private forget(): void {
    const known = new Set(this.fleet.services);
    for (const name of this.troubles.keys()) if (!known.has(name)) this.troubles.delete(name);
  }

  private async step(name: string): Promise<void> {
    try {
      await this.fleet.step(name);
      if (this.troubles.delete(name)) this.ports.log(`${name}: it continues`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (this.troubles.get(name) !== why) this.ports.log(`${name}: it waits: ${why}`);
      this.troubles.set(name, why);
    }
  }
}
