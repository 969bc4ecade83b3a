import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { conveyorError } from '../domain/errors';
import type { ApiToken } from '../sdk/access';

/** Who sends a request, by its bearer token. @throws ConveyorError `unauthorized` */
export function principalOf(context: Context, tokens: readonly ApiToken[]): string {
  const given = bearerOf(context);
  if (given === '') throw conveyorError('unauthorized', { why: 'there is no bearer token' });
  // Digests have one length, and comparing with every token takes the same time whichever it is.
  const known = tokens.filter(({ token }) => timingSafeEqual(digest(token), digest(given)));
  const [first] = known;
  if (first === undefined)
    throw conveyorError('unauthorized', { why: 'the bearer token is none of the configured ones' });
  return first.principal;
}

/** The bearer token of a request; empty when there is none. */
export const bearerOf = (context: Context): string =>
  /^Bearer +(\S+) *$/i.exec(context.req.header('authorization') ?? '')?.[1] ?? '';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
