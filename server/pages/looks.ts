import { z } from 'zod';
import { PAGE_LIMITS } from '../../domain/limits';
import type { FrontClient } from '../deps';
import { ConveyorError } from '../../domain/errors';
import { MINUTE_MS } from '../../domain/milliseconds';
import { formatTime } from '../../domain/text';
import type { KeptState } from '../../pages/models';
import { SharedReader, type KeptAnswer } from '../sharedRead';

/** All viewers of one thing share one look at it within this time. */
const LIVE_MS = 1_000;
/** An ended release changes only if it is undone. */
const ENDED_MS = 60_000;
/** A look that takes longer is left out of a page that can do without it. */
const OPTIONAL_MS = 1_500;

/** Readers wait for an answer that is older, and see the error if there is none. */
const KEPT_MS = 5 * MINUTE_MS;

/** A filter of a page; empty for none. */
export const pageFilter = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= PAGE_LIMITS.filter.max, {
    error: `longer than ${PAGE_LIMITS.filter.max} bytes`,
  })
  .default('');

/** The key of a look with a query. */
export const toSharedKey = (name: string, query: object): string => `${name} ${JSON.stringify(query)}`;

/** Looks at Temporal that all readers of pages share; the least recently used are forgotten. */
export class SharedLooks {
  private readonly readers = new Map<string, SharedReader<unknown>>();

  constructor(
    private readonly client: Pick<FrontClient, 'status'>,
    private readonly most: number,
    private readonly now: () => number,
  ) {}

  /** @param key of the look and of everything that its answer depends on */
  read<T>(key: string, look: () => Promise<T>, freshMs: number = LIVE_MS): Promise<T> {
    return this.findReader(key, look, freshMs).read();
  }

  /** As `read`, but no reader of the last minutes waits: an answer that is older than `freshMs` is read again behind. */
  readKept<T>(key: string, look: () => Promise<T>, freshMs: number): Promise<KeptAnswer<T>> {
    return this.findReader(key, look, freshMs).readKept(KEPT_MS);
  }

  private findReader<T>(key: string, look: () => Promise<T>, freshMs: number): SharedReader<T> {
    const reader = this.readers.get(key) ?? new SharedReader<unknown>(look, freshMs, this.now);
    this.readers.delete(key);
    this.readers.set(key, reader);
    const [oldest] = this.readers.keys();
    if (this.readers.size > this.most && oldest !== undefined) this.readers.delete(oldest);
    return reader as SharedReader<T>;
  }

  /** The next readers look again: a command has changed what was seen. */
  forget(): void {
    this.readers.clear();
  }

  /** The status of a pipeline, release or deploy. @param isEnded known from a list: it hardly changes any more */
  status(id: string, isEnded = false): ReturnType<FrontClient['status']> {
    const key = `status ${id}${isEnded ? ' ended' : ''}`;
    return this.read(key, () => this.client.status(id), isEnded ? ENDED_MS : LIVE_MS);
  }
}

/** The answer, or null if it is late or an error: for the parts that a page can do without. */
export async function unlessLate<T>(look: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), OPTIONAL_MS);
  });
  return Promise.race([look.catch(() => null), late]).finally(() => clearTimeout(timer));
}

/** What a page says about an answer that is older than its life; null for others. */
export function describeKept({ atMs, isOld, problem }: Omit<KeptAnswer<unknown>, 'answer'>): KeptState | null {
  if (!isOld) return null;
  if (problem === undefined) return { at: formatTime(atMs), problem: null };
  return { at: formatTime(atMs), problem: problem instanceof ConveyorError ? problem.message : NO_ANSWER };
}

const NO_ANSWER = 'the last read of it failed inside Conveyor';
