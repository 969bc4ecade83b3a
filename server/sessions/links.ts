import { MINUTE_MS } from '../../domain/milliseconds';
import { createSignInLink, readSignInCode, SIGN_IN_LINK_MS, type LinkSignIn } from '../../settings/signInLink';

/** Anyone at this machine can ask for a new link, and the log must not grow with it. */
const NEW_LINK_MS = MINUTE_MS;

/** Takes each link of `conveyor dev` once. */
export class SignInLinks {
  /** Ids of used codes, with their time. */
  private readonly used = new Map<string, number>();
  private createdAtMs = -Infinity;

  /** @param sinceMs the start of this process, which knows no codes that were used before */
  constructor(
    private readonly by: LinkSignIn,
    private readonly sinceMs: number,
    private readonly now: () => number,
  ) {}

  /** The principal of a link, or why it is not good. */
  take(given: string): { readonly principal: string } | string {
    const code = readSignInCode(this.by, given);
    if (code === undefined) return 'the link is not one of this server';
    const nowMs = this.now();
    if (code.atMs < this.sinceMs) return 'the link is older than this server';
    if (nowMs - code.atMs >= SIGN_IN_LINK_MS) return 'the link is too old';
    for (const [id, atMs] of this.used) if (nowMs - atMs >= SIGN_IN_LINK_MS) this.used.delete(id);
    if (this.used.has(code.id)) return 'the link was used before';
    this.used.set(code.id, code.atMs);
    return { principal: this.by.principal };
  }

  /** A new link; undefined if there was one within the last minute. */
  create(origin: string): string | undefined {
    const nowMs = this.now();
    if (nowMs - this.createdAtMs < NEW_LINK_MS) return undefined;
    this.createdAtMs = nowMs;
    return createSignInLink(this.by, origin, nowMs);
  }
}
