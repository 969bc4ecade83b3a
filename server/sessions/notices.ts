import { z } from 'zod';
import { cutText } from '../../domain/size';
import { MINUTE_MS } from '../../domain/milliseconds';
import type { Vault } from './vault';

/** A page that is loaded again later does not say once more what happened. */
const NOTICE_MS = 10 * MINUTE_MS;
const MOST_BYTES = 1_000;

const noticeSchema = z.strictObject({ session: z.string(), text: z.string(), untilMs: z.number() });

/**
 * Carries the effect of a command to the page that follows it, in its address. Only the session that gave the command
 * sees it, so no other person can be led to a page with words of a stranger.
 */
export class Notices {
  constructor(
    private readonly vault: Vault,
    private readonly now: () => number,
  ) {}

  /** A text for a query. */
  async seal(session: string, text: string): Promise<string> {
    const notice = { session, text: cutText(text, MOST_BYTES), untilMs: this.now() + NOTICE_MS };
    return (await this.vault.seal('notice', notice)) ?? '';
  }

  /** Null for anything that was not sealed for this session, or is old. */
  async open(session: string, sealed: string): Promise<string | null> {
    const { data } = noticeSchema.safeParse(await this.vault.open('notice', sealed));
    return data?.session === session && this.now() < data.untilMs ? data.text : null;
  }
}
