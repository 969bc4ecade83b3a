import { statSync } from 'node:fs';
import { explainError } from '../../explainError';
import { HostTokens } from './hostTokens';
import type { SlowrollFleet } from './slowrollFleet';

/** The tokens of hosts, read again when their file changes. Hosts that are no longer in it do not count. */
export class WatchedTokens {
  now: HostTokens | undefined;
  private seen = '';

  constructor(
    private readonly path: string | undefined,
    private readonly fleet: SlowrollFleet,
    private readonly log: (line: string) => void,
  ) {
    if (path !== undefined) this.read(path);
  }

  refresh(): void {
    if (this.path === undefined || this.look(this.path) === this.seen) return;
    try {
      this.read(this.path);
      this.log(`${this.now?.count ?? 0} tokens`);
    } catch (error) {
      this.seen = this.look(this.path);
      this.log(`the tokens of before stay: ${explainError(error)}`);
    }
  }

  private read(path: string): void {
    const seen = this.look(path);
    const next = HostTokens.read(path);
    // A file that is written in place is empty for a moment. Without hosts, every update would be done.
    if (next.count === 0 && this.now !== undefined) throw new Error(`${path} has no token`);
    this.now = next;
    this.seen = seen;
    this.fleet.keepListed(this.now.listHosts().has);
  }

  private look(path: string): string {
    try {
      const { mtimeMs, size, ino } = statSync(path);
      return `${mtimeMs} ${size} ${ino}`;
    } catch {
      return 'gone';
    }
  }
}
