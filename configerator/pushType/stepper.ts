import { concurrencyGate } from '../../sdk/concurrency';
import type { ConfigFleet } from './fleet';

export interface SteppingPorts {
  /** Resolves after `ms`, or when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: (line: string) => void;
}

const EVERY_MS = 500;
/** The number of services stepped at once; a slow store delays only its own. */
const AT_ONCE = 16;

/** Advances moving services even without requests: after a restart, and after a deploy was abandoned. */
export class ServiceStepper {
  /** Why services make no progress, by name. */
  readonly troubles = new Map<string, string>();

  constructor(
    private readonly fleet: Pick<ConfigFleet, 'services' | 'moving' | 'step'>,
    private readonly ports: SteppingPorts,
  ) {}

  /** Resolves once the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    let due: readonly string[] = this.fleet.services;
    while (!signal.aborted) {
      const turn = concurrencyGate(AT_ONCE);
      await Promise.all(due.map((name) => turn(() => this.step(name))));
      await this.ports.sleep(EVERY_MS, signal);
      this.forget();
      due = [...new Set([...this.fleet.moving, ...this.troubles.keys()])];
    }
  }

  /** A service that has made room for another needs no steps. */
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
