import { createHmac, randomBytes } from 'node:crypto';
import { MINUTE_MS } from '../domain/milliseconds';
import { isGroup, PRINCIPAL } from '../domain/principals';
import type { Env } from './env';
import { isSameSecret } from './secrets';

/** How long a link of `conveyor dev` is good. */
export const SIGN_IN_LINK_MS = 10 * MINUTE_MS;

/** How a development stack signs its user in. */
export interface LinkSignIn {
  readonly secret: string;
  /** The user of the stack: a link signs no one else in. */
  readonly principal: string;
}

const [LINK_SECRET, LINK_PRINCIPAL] = ['CONVEYOR_DEV_SIGN_IN_SECRET', 'CONVEYOR_DEV_SIGN_IN_AS'] as const;

/** The environment of the server of a development stack. Sessions outlive a restart of it, but not of the stack. */
export const linkEnvironment = ({ secret, principal }: LinkSignIn): Record<string, string> => ({
  ...{ [LINK_SECRET]: secret, [LINK_PRINCIPAL]: principal },
  CONVEYOR_SESSION_SECRET: secret,
});

/** Undefined outside of a development stack. */
export function readLinkSignIn(env: Env): LinkSignIn | undefined {
  const { [LINK_SECRET]: secret, [LINK_PRINCIPAL]: principal = '' } = env;
  return secret && PRINCIPAL.test(principal) && !isGroup(principal) ? { secret, principal } : undefined;
}

/** The content of a link. */
interface SignInCode {
  readonly atMs: number;
  /** Makes it good only once. */
  readonly id: string;
}

/** A link that signs the user of a development stack in to its pages, once. */
export function createSignInLink({ secret }: LinkSignIn, server: string, atMs: number): string {
  const text = `${atMs}.${randomBytes(12).toString('base64url')}`;
  return `${server}/sign-in/link?code=${text}.${signCode(secret, text)}`;
}

/** Undefined for a text that is not the code of a link of this stack. The caller decides whether it is still good. */
export function readSignInCode({ secret }: LinkSignIn, given: string): SignInCode | undefined {
  const [, text = '', atMs = '', id = '', signature = ''] =
    /^((\d{1,15})\.([\w-]{16}))\.([\w-]{43})$/.exec(given) ?? [];
  return isSameSecret(signCode(secret, text), signature) ? { atMs: Number(atMs), id } : undefined;
}

const signCode = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(`sign-in-link:${text}`).digest('base64url');
