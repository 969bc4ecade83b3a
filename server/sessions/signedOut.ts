import type { SignOuts } from '../../client/signOuts';
import { workflowIds } from '../../domain/ids';
import { SESSION_LIMITS } from '../../domain/limits';
import { MINUTE_MS } from '../../domain/milliseconds';
import type { Session } from '../../domain/sessions/session';

/** How late a sign-out at another server may be noticed by a read. A form always looks. */
const SIGN_OUT_FRESH_MS = 5_000;
/** While Temporal does not answer, no server can store a sign-out, so the last look counts for this long. */
const LAST_LOOK_MS = 10 * MINUTE_MS;

interface SignOutLook {
  readonly run: string | null;
  readonly atMs: number;
  /** Looks began in this order, and may end in another. */
  readonly order: number;
}

/** Whether sessions were signed out, at this server or at another. */
export class SignedOut {
  private readonly looks = new Map<string, SignOutLook>();
  private readonly running = new Map<string, Promise<string | null>>();
  private begun = 0;

  constructor(
    private readonly signOuts: SignOuts,
    private readonly now: () => number,
  ) {}

  /** @throws ConveyorError `temporal-unreachable` */
  async has({ id, principal, after }: Session, when: 'now' | 'soon'): Promise<boolean> {
    const everywhere = workflowIds.signOutEverywhere(principal);
    const [own, all] = await Promise.all([this.find(workflowIds.signOut(id), when), this.find(everywhere, when)]);
    if (own !== null) return true;
    if (all === null || all === after) return false;
    // The last look may be older than the session.
    const latest = await this.find(everywhere, 'now');
    return latest !== null && latest !== after;
  }

  /** Whether a look of this server has already found its end; no call to Temporal. */
  knows({ id, principal, after }: Session): boolean {
    const [own, all] = [workflowIds.signOut(id), workflowIds.signOutEverywhere(principal)].map(
      (workflowId) => this.looks.get(workflowId)?.run ?? null,
    );
    return own != null || (all != null && all !== after);
  }

  /** The last sign-out everywhere, for a session that begins now. @throws ConveyorError `temporal-unreachable` */
  last(principal: string): Promise<string | null> {
    return this.look(workflowIds.signOutEverywhere(principal));
  }

  /** @throws ConveyorError `temporal-unreachable` */
  async end({ id, principal }: Pick<Session, 'id' | 'principal'>): Promise<void> {
    await this.record(workflowIds.signOut(id), `${principal} signed out of one session`);
  }

  /** @throws ConveyorError `temporal-unreachable` */
  async endAll(principal: string): Promise<void> {
    await this.record(workflowIds.signOutEverywhere(principal), `${principal} signed out everywhere`);
  }

  private async record(workflowId: string, summary: string): Promise<void> {
    const run = await this.signOuts.record(workflowId, summary);
    this.keep(workflowId, { run, atMs: this.now(), order: (this.begun += 1) });
  }

  private async find(workflowId: string, when: 'now' | 'soon'): Promise<string | null> {
    const last = this.looks.get(workflowId);
    const ageMs = last === undefined ? Infinity : this.now() - last.atMs;
    if (last !== undefined && when === 'soon' && ageMs < SIGN_OUT_FRESH_MS) return last.run;
    try {
      return await (when === 'soon' ? this.share(workflowId) : this.look(workflowId));
    } catch (error) {
      if (last !== undefined && ageMs < LAST_LOOK_MS) return last.run;
      throw error;
    }
  }

  /** Readers share one look at a time. */
  private share(workflowId: string): Promise<string | null> {
    const running =
      this.running.get(workflowId) ?? this.look(workflowId).finally(() => this.running.delete(workflowId));
    this.running.set(workflowId, running);
    return running;
  }

  private async look(workflowId: string): Promise<string | null> {
    const [atMs, order] = [this.now(), (this.begun += 1)];
    const run = await this.signOuts.find(workflowId);
    this.keep(workflowId, { run, atMs, order });
    return run;
  }

  private keep(workflowId: string, look: SignOutLook): void {
    const known = this.looks.get(workflowId);
    if (known !== undefined && known.order > look.order) return;
    this.looks.delete(workflowId);
    this.looks.set(workflowId, look);
    const [oldest] = this.looks.keys();
    if (this.looks.size > SESSION_LIMITS.looks.max && oldest !== undefined) this.looks.delete(oldest);
  }
}
