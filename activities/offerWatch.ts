import { sameJson } from '../domain/json';
import type { OfferedBoard } from '../domain/offers/readBoard';
import type { Clock } from './clock';

/** How long one look stays, and how often it reads the offers meanwhile; ms. It has ended long before its activity times out. */
const [STAY_MS, EACH_MS] = [15_000, 1_000];
/** The time until the next look of a wait whose last look has stayed. */
export const AFTER_STAY_MS = 1_000;
/** After this time, half a minute more is 2% of a wait; ms. */
const YOUNG_MS = 1_800_000;

interface WatchParts {
  readonly clock: Clock;
  /** The number of looks of this worker that stay at once. The others look as often as their wait is long. */
  readonly places: number;
  readonly read: (pipelines: readonly string[]) => Promise<ReadonlyMap<string, OfferedBoard | null>>;
}

/**
 * Looks at offers that stay for a while, so that a deploy that has not waited for long begins within a second or two after the offer that it waits
 * for. Nothing is kept: if such a look is lost, the next one finds the change.
 */
export class OfferWatch {
  private staying = 0;

  constructor(private readonly parts: WatchParts) {}

  /** Whether a look may stay; then it has to `leave`. @param waitedMs how long its deploy has waited */
  enter(waitedMs: number): boolean {
    if (waitedMs >= YOUNG_MS || this.staying >= this.parts.places) return false;
    this.staying += 1;
    return true;
  }

  leave(): void {
    this.staying -= 1;
  }

  /**
   * Calls `look` until it has news, and again after each change of the offers, or of users, of these pipelines. Undefined if there was none for the
   * time that a look stays, or if it is cancelled, as when its worker stops.
   */
  async stay<T>(
    pipelines: readonly string[],
    cancelled: AbortSignal,
    look: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const { clock, read } = this.parts;
    const untilMs = (await clock.now()) + STAY_MS;
    let known = await read(pipelines);
    for (let news = await look(); ;) {
      if (news !== undefined) return news;
      await clock.sleep(EACH_MS, cancelled);
      if (cancelled.aborted || (await clock.now()) >= untilMs) return undefined;
      const now = await read(pipelines);
      if (sameJson([...now], [...known])) continue;
      known = now;
      news = await look();
    }
  }
}
