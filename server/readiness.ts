import type { ReadinessPart } from '../client/api';
import { certificateState } from '../domain/certificates';
import type { ServerDeps } from './deps';
import { SharedReader } from './sharedRead';

/** Several load balancers may each ask every second. */
const READY_FRESH_MS = 2_000;
/** Each check makes Temporal write. */
const STORED_FRESH_MS = 10_000;
/** After this long without a check, the last result is obsolete. */
const STORED_STALE_MS = 60_000;

/** A dependency of every request; `draining` once the server was asked to end. */
export type ServerPart = Omit<ReadinessPart, 'name'> & { readonly name: ReadinessPart['name'] | 'draining' };

/** The dependencies of every request. Pipelines and extensions are left out: a single unavailable one must not take the front end down. */
export class Readiness {
  private readonly parts: SharedReader<readonly ReadinessPart[]>;
  private readonly stored: SharedReader<void>;
  private storedSeen: { readonly why: string | undefined; readonly atMs: number } | undefined;
  /**
   * Failed checks in a row. All servers check the same way, so a single failure must not take them all out of service.
   */
  private failedLooks = 0;

  constructor(
    private readonly deps: Pick<ServerDeps, 'client' | 'isDraining' | 'now' | 'whyNothingIsStored' | 'certificates'>,
  ) {
    const now = (): number => deps.now();
    this.parts = new SharedReader(() => deps.client.readiness(), READY_FRESH_MS, now);
    this.stored = new SharedReader(() => this.lookAtStore(), STORED_FRESH_MS, now);
  }

  /** Answers within the two seconds that a look at Temporal takes; never throws. */
  async read(): Promise<readonly ServerPart[]> {
    if (this.deps.isDraining()) return [{ name: 'draining', ok: false, detail: 'the server is shutting down' }];
    const parts = await this.parts.read();
    const isAnswered = parts.every(({ name, ok }) => name !== 'temporal' || ok);
    if (!isAnswered) return this.withEndedCertificates(parts);
    return this.deps.whyNothingIsStored ? [...parts, this.storage()] : parts;
  }

  /** If Temporal refuses an expired certificate, it looks as if it were down. */
  private async withEndedCertificates(parts: readonly ReadinessPart[]): Promise<readonly ReadinessPart[]> {
    const looks = (await this.deps.certificates?.().catch(() => [])) ?? [];
    const ended = looks.filter(
      (look) => look.use.endsWith('Temporal') && certificateState(look, this.deps.now()).kind === 'ended',
    );
    const blamed = ended.map(({ use, at, until }) => `; ${use} expired at ${until}: ${at}`).join('');
    return parts.map((part) => (part.name === 'temporal' ? { ...part, detail: `${part.detail}${blamed}` } : part));
  }

  /** The last result, because a check takes longer than a probe waits. */
  private storage(): ReadinessPart {
    void this.stored.read();
    const name = 'writes';
    const seen = this.storedSeen;
    if (seen === undefined || this.deps.now() - seen.atMs > STORED_STALE_MS)
      return { name, ok: true, detail: 'not known' };
    return seen.why === undefined
      ? { name, ok: true, detail: 'stores data' }
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
