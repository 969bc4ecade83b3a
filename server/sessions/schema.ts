import { z } from 'zod';
import type { Session } from '../../domain/sessions/session';
import type { SignInAttempt } from './providers';

/** Cookies come from servers of other versions, too. */
const sessionSchema: z.ZodType<Session> = z.strictObject({
  id: z.string(),
  principal: z.string(),
  groups: z.array(z.string()),
  proof: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('oidc'), entry: z.string(), refreshToken: z.string().nullable() }),
    z.strictObject({ kind: z.literal('token'), digest: z.string() }),
    z.strictObject({ kind: z.literal('development') }),
  ]),
  signedInAtMs: z.number(),
  confirmedAtMs: z.number(),
  untilMs: z.number(),
  after: z.string().nullable(),
});

/** A sign-in under way in one browser. */
export interface PendingSignIn {
  /** The local path to which it leads back. */
  readonly to: string;
  readonly untilMs: number;
  /** Null for a form that takes a token. */
  readonly attempt: SignInAttempt | null;
  /** In the form that takes a token. */
  readonly csrf: string;
}

const pendingSchema: z.ZodType<PendingSignIn> = z.strictObject({
  to: z.string(),
  untilMs: z.number(),
  attempt: z.strictObject({ entry: z.string(), state: z.string(), nonce: z.string(), verifier: z.string() }).nullable(),
  csrf: z.string(),
});

export const parseSession = (value: unknown): Session | undefined => sessionSchema.safeParse(value).data;
export const parsePending = (value: unknown): PendingSignIn | undefined => pendingSchema.safeParse(value).data;
