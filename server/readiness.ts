import type { ReadinessPart } from '../client/api';
import type { ServerDeps } from './deps';
import { SharedRead } from './shared';

/** Several load balancers may each ask every second. */
const READY_FRESH_MS = 2_000;
/** Each look makes Temporal write. */
const STORED_FRESH_MS = 10_000;
/** After this long without a check, the last result is obsolete. */
const STORED_STALE_MS = 60_000;

/** A part of what every request needs; `draining` where the server is asked to end. */
export type ServerPart = Omit<ReadinessPart, 'name'> & { readonly name: ReadinessPart['name'] | 'draining' };

/** The dependencies of every request. Pipelines and extensions are left out: a single unavailable one must not take the front end down. */
export class Readiness {
  private readonly parts: SharedRead<readonly ReadinessPart[]>;
  private readonly stored: SharedRead<void>;
  private storedSeen: { readonly why: string | undefined; readonly atMs: number } | undefined;
  /** In a row. Every server looks in the same way, so one look that fails takes none of them away. */
  private failedLooks = 0;

  constructor(private readonly deps: Pick<ServerDeps, 'client' | 'isDraining' | 'now' | 'whyNothingIsStored'>) {
    const now = (): number => deps.now();
    this.parts = new SharedRead(() => deps.client.readiness(), READY_FRESH_MS, now);
    this.stored = new SharedRead(() => this.lookAtStore(), STORED_FRESH_MS, now);
  }

  /** Answers within the two seconds that a look at Temporal takes; never throws. */
  async read(): Promise<readonly ServerPart[]> {
    if (this.deps.isDraining()) return [{ name: 'draining', ok: false, detail: 'the server is ending' }];
    const parts = await this.parts.read();
    const isAnswered = parts.every(({ name, ok }) => name !== 'temporal' || ok);
    return isAnswered && this.deps.whyNothingIsStored ? [...parts, this.storage()] : parts;
  }

  /** As it was last seen: a look takes longer than a probe waits. */
  private storage(): ReadinessPart {
    void this.stored.read();
    const name = 'writes';
    const seen = this.storedSeen;
    if (seen === undefined || this.deps.now() - seen.atMs > STORED_STALE_MS)
      return { name, ok: true, detail: 'not known' };
    return seen.why === undefined
      ? { name, ok: true, detail: 'stores what it is given' }
      : { name, ok: false, detail: `Temporal answers, and stores nothing: ${seen.why}` };
  }

  private async lookAtStore(): Promise<void> {
    try {
      const why = await this.deps.whyNothingIsStored?.();
      this.failedLooks = why === undefined ? 0 : this.failedLooks + 1;
      this.storedSeen = this.failedLooks === 1 ? undefined : { why, atMs: this.deps.now() };
    } catch {
      this.failedLooks = 0;
      this.storedSeen = undefined;
    }
  }
}
