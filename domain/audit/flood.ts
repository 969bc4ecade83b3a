import { AUDIT_LIMITS } from '../limits';
import { MINUTE_MS } from '../milliseconds';

/** Records that were only counted. */
export interface FloodSummary {
  readonly count: number;
  /** The counts by name, highest first, up to a maximum number of sources. */
  readonly sources: readonly (readonly [source: string, count: number])[];
}

/**
 * Limits the refusals a minute that are written individually, for each source and in total, and counts the rest. This
 * bounds the growth of the log and of memory.
 */
export class Flood {
  private minute = -1;
  private written = 0;
  private readonly bySource = new Map<string, number>();
  private readonly over = new Map<string, number>();
  private count = 0;

  /** Whether this refusal is written individually. The summary of the minute before has to be read first. */
  admits(source: string, nowMs: number): boolean {
    this.turn(nowMs);
    const of = this.bySource.get(source) ?? 0;
    const isKnown = this.bySource.has(source) || this.bySource.size < AUDIT_LIMITS.refusalSources.max;
    if (isKnown && of < AUDIT_LIMITS.refusalsOfSource.max && this.written < AUDIT_LIMITS.refusals.max) {
      this.bySource.set(source, of + 1);
      this.written += 1;
      return true;
    }
    this.count += 1;
    if (this.over.has(source) || this.over.size < AUDIT_LIMITS.refusalSources.max)
      this.over.set(source, (this.over.get(source) ?? 0) + 1);
    return false;
  }

  /** The counted records, once; undefined during the minute, and if there were none. */
  summary(nowMs: number, isLast = false): FloodSummary | undefined {
    if (this.count === 0 || (!isLast && Math.floor(nowMs / MINUTE_MS) === this.minute)) return undefined;
    const sources = [...this.over].sort(([, a], [, b]) => b - a).slice(0, MAX_SOURCES);
    const summary = { count: this.count, sources };
    this.count = 0;
    this.over.clear();
    return summary;
  }

  private turn(nowMs: number): void {
    const minute = Math.floor(nowMs / MINUTE_MS);
    if (minute === this.minute) return;
    this.minute = minute;
    this.written = 0;
    this.bySource.clear();
  }
}

const MAX_SOURCES = 10;

/** `1,204 more were refused within a minute: 1,000 of 203.0.113.7, 204 of 203.0.113.9` */
export const summaryText = ({ count, sources }: FloodSummary): string =>
  `${count.toLocaleString('en')} more were refused within a minute: ${sources.map(([source, of]) => `${of.toLocaleString('en')} of ${source}`).join(', ')}`;
