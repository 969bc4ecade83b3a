import { cacheFile, parseCached, writeCached, type CachedPath } from '../../sdk/configCache';
import type { Files } from './files';
import { Loop } from './loop';

/** When a proxy starts, it forgets paths that were last requested this much earlier than the newest request. */
const KEEP_MS = 7 * 24 * 3600 * 1000;

/** The cache on disk. A failed write is kept in memory and retried; no caller waits for it. */
export class Cache {
  /** Entries to write: the newest one of each path. */
  private readonly waiting = new Map<string, () => CachedPath>();
  private readonly writing = new Loop(
    () => this.waiting.size > 0,
    () => this.writeNext(),
    (error) => this.recordFailure(error),
  );
  /** Why the disk refuses writes; undefined while it accepts them. */
  trouble: string | undefined;

  constructor(
    private readonly files: Files,
    private readonly log: (line: string) => void,
  ) {}

  /** All intact entries; broken files are removed and logged. */
  async load(now: number): Promise<CachedPath[]> {
    const names = await this.files.list().catch((error: unknown) => {
      this.recordFailure(error);
      return [];
    });
    const found: { readonly name: string; readonly cached: CachedPath }[] = [];
    for (const name of names) {
      const text = await this.files.read(name).catch((error: unknown) => this.skipUnreadable(name, String(error)));
      if (text === undefined) continue;
      const whole = parseCached(text);
      const cached = whole && cacheFile(whole.path) === name ? whole : this.skipUnreadable(name, 'it is not whole');
      if (cached) found.push({ name, cached });
      else await this.forget(name);
    }
    // Compared with the newest request, because a host may have been off for a month, or have a wrong clock.
    const last = Math.min(now, Math.max(...found.map(({ cached }) => cached.askedAt)));
    const isOld = ({ askedAt }: CachedPath): boolean => last - askedAt >= KEEP_MS;
    for (const { name, cached } of found) if (isOld(cached)) await this.forget(name);
    return found.flatMap(({ cached }) => (isOld(cached) ? [] : cached));
  }

  /** Writes the result of `latest` at that time. */
  keep(path: string, latest: () => CachedPath): void {
    this.waiting.set(path, latest);
    this.retry();
  }

  /** Retries failed writes. */
  retry(): void {
    this.writing.wake();
  }

  /** Resolves once all possible writes are done. */
  flush(): Promise<void> {
    return this.writing.awaitStop();
  }

  private async forget(name: string): Promise<void> {
    await this.files.remove(name).catch(() => undefined);
  }

  private async writeNext(): Promise<void> {
    const [[path, latest] = []] = this.waiting;
    if (path === undefined || latest === undefined) return;
    this.waiting.delete(path);
    try {
      await this.files.write(cacheFile(path), writeCached(latest()));
    } catch (error) {
      if (!this.waiting.has(path)) this.waiting.set(path, latest);
      throw error;
    }
    if (this.trouble !== undefined) this.log('the disk takes the cache again');
    this.trouble = undefined;
  }

  private recordFailure(error: unknown): void {
    const why = (error as Error).message;
    if (this.trouble === undefined) this.log(`the cache cannot be written, values are served from memory: ${why}`);
    this.trouble = why;
  }

  private skipUnreadable(name: string, why: string): undefined {
    this.log(`${name} of the cache is left out and fetched anew: ${why}`);
    return undefined;
  }
}
