import { backOff } from '../../domain/backoff';
import type { TailResult } from './tail';

/** The state of a tailer. */
export interface TailerState {
  /** Commits written to the store since its start. */
  readonly applied: number;
  /** The records it has restored from git. */
  readonly mended: number;
  /** Failed looks at the branch. */
  readonly failures: number;
  /** Why the last look failed; null if it succeeded, and before the first. */
  readonly trouble: string | null;
  /** When a look last found everything in the store, in ms since the epoch; null if none has yet. */
  readonly caughtUpAtMs: number | null;
}

export interface TailerPorts {
  /** One call of `tail`. `mended`: the number of records restored from git. */
  readonly step: () => Promise<TailResult & { readonly mended?: number }>;
  readonly now: () => number;
  /** Resolves after `ms`, or when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: (line: string) => void;
}

/** How often to look for pushes that were not announced. */
const POLL_MS = 5_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;

/** Keeps the store of one repository at the newest commit of its branch: at once when woken, else by regular looks. */
export class Tailer {
  private current: TailerState = { applied: 0, mended: 0, failures: 0, trouble: null, caughtUpAtMs: null };
  private rouse = new AbortController();

  constructor(
    readonly repository: string,
    private readonly ports: TailerPorts,
  ) {}

  get state(): TailerState {
    return this.current;
  }

  /** Reports that something has landed. A look in progress is followed by another. */
  wake(): void {
    this.rouse.abort();
  }

  /** Resolves once the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    for (let failed = 0; !signal.aborted;) {
      this.rouse = new AbortController();
      failed = (await this.look()) ? 0 : failed + 1;
      const ms = failed === 0 ? POLL_MS : backOff(FIRST_RETRY_MS, failed, LAST_RETRY_MS);
      await this.ports.sleep(ms, AbortSignal.any([signal, this.rouse.signal]));
    }
  }

  /** Runs until the store is up to date. */
  private async look(): Promise<boolean> {
    const { step, now, log } = this.ports;
    const { trouble: before } = this.current;
    try {
      for (let last = Infinity; last > 0;) {
        const { applied, mended = 0 } = await step();
        last = applied;
        const { current } = this;
        this.current = { ...current, applied: current.applied + applied, mended: current.mended + mended };
      }
      this.current = { ...this.current, trouble: null, caughtUpAtMs: now() };
      if (before !== null) log(`${this.repository}: the store has the branch again`);
      return true;
    } catch (error) {
      const trouble = error instanceof Error ? error.message : String(error);
      this.current = { ...this.current, failures: this.current.failures + 1, trouble };
      if (trouble !== before) log(`${this.repository}: the store does not get the branch: ${trouble}`);
      return false;
    }
  }
}
