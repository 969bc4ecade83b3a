import { setTimeout as wait } from 'node:timers/promises';
import type { LookNow } from '../client/api';

/**
 * Pauses while a look is still running, in ms. A look usually takes an instant; after the last pause, the next one
 * takes over.
 */
const WHILE_BUSY = [25, 50, 100, 200, 400, 800, 1_600];
/** The pause between two looks at one run. */
const APART_MS = 1_000;
/** The most runs reported within that time; further ones wait for their regular look. */
const MAX_RUNS = 10_000;

interface RunNews {
  /** Another report has arrived since. */
  again: boolean;
}

/**
 * Reports of action services that a run has ended. Each run is checked soon, and at most once a second however often a service reports it. Reports in
 * between cause one more check at the end of that second, since only the last may be true.
 */
export class RunEndings {
  private readonly runs = new Map<string, RunNews>();
  private isSupported = true;

  constructor(
    private readonly lookNow: (runId: string) => Promise<LookNow>,
    private readonly log: (line: string) => void,
    private readonly sleep = (ms: number): Promise<void> => wait(ms, undefined, { ref: false }),
  ) {}

  /** @throws the error of the first call to Temporal; the sender may retry. */
  async recordRunEnd(runId: string): Promise<void> {
    const known = this.runs.get(runId);
    if (known !== undefined) known.again = true;
    if (known !== undefined || !this.isSupported || this.runs.size >= MAX_RUNS) return;
    const now: RunNews = { again: false };
    this.runs.set(runId, now);
    try {
      await this.look(runId);
    } catch (error) {
      this.runs.delete(runId);
      throw error;
    }
    void this.lookLater(runId, now);
  }

  private async lookLater(runId: string, known: RunNews): Promise<void> {
    await this.sleep(APART_MS);
    while (known.again) {
      known.again = false;
      // A failure harms nothing: no caller waits, and the run is checked anyway.
      await this.look(runId).catch(() => undefined);
      await this.sleep(APART_MS);
    }
    this.runs.delete(runId);
  }

  private async look(runId: string): Promise<void> {
    for (const pauseMs of [...WHILE_BUSY, null]) {
      const came = await this.lookNow(runId);
      if (came === 'unsupported') return this.giveUp();
      if (came !== 'busy' || pauseMs === null) return;
      await this.sleep(pauseMs);
    }
  }

  private giveUp(): void {
    if (this.isSupported)
      this.log('this Temporal server cannot reset an activity (1.28 can), so action services are only polled');
    this.isSupported = false;
  }
}
