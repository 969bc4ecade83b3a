import { conveyorError } from '../domain/errors';
import type { BodyReading } from '../sdk/bodyLimit';

/** A body that is being read, or has been read and is still needed. */
interface HeldBody {
  bytes: number;
  readonly unwanted: AbortController;
}

/** A reader of a body reports bytes through `took` and stops when `signal` aborts, with the error for the response. */
export type ReadingQuota = Required<Pick<BodyReading, 'took' | 'signal'>>;

/**
 * Limits the memory of all incoming bodies together. When memory or places run out, the body that has been arriving longest is dropped: an honest
 * sender finishes at once.
 */
export class Bodies {
  /** Bodies that are still arriving, oldest first. */
  private readonly underWay = new Set<HeldBody>();
  private bytes = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly maxUnderWay = Infinity,
  ) {}

  /** Bytes read by `read` count until `use` has finished. @throws ConveyorError `overloaded` */
  async run<B, T>(read: (reading: ReadingQuota) => Promise<B>, use: (body: B) => Promise<T>): Promise<T> {
    const held: HeldBody = { bytes: 0, unwanted: new AbortController() };
    const { signal } = held.unwanted;
    const [oldest] = this.underWay.add(held);
    if (oldest !== undefined && this.underWay.size > this.maxUnderWay) this.giveWay(oldest);
    try {
      const body = await read({ took: (bytes) => this.countBytes(held, bytes), signal });
      signal.throwIfAborted();
      this.underWay.delete(held);
      return await use(body);
    } finally {
      this.drop(held);
    }
  }

  private countBytes(held: HeldBody, bytes: number): void {
    if (held.unwanted.signal.aborted) return;
    held.bytes += bytes;
    this.bytes += bytes;
    for (const oldest of this.underWay) {
      if (this.bytes <= this.maxBytes) return;
      if (oldest.bytes === 0) continue;
      this.giveWay(oldest);
    }
  }

  private giveWay(held: HeldBody): void {
    this.drop(held);
    held.unwanted.abort(conveyorError('overloaded', { waiting: this.underWay.size }));
  }

  private drop(held: HeldBody): void {
    this.underWay.delete(held);
    this.bytes -= held.bytes;
    held.bytes = 0;
  }
}
