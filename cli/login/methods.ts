import { conveyorError } from '../../domain/errors';
import type { SignInOffer } from '../../domain/signIn';
import { askAt } from '../../client/http/client';
import { toHttpOptions } from '../door';
import type { Io } from '../io';
import type { Grant } from './credentials';
import { signIn } from './signIn';
import { parseToken } from './token';

export interface LoginOptions {
  readonly tokenStdin?: boolean;
  /** The chosen identity, for a development server. */
  readonly as?: string;
  /** Sign in on another machine. */
  readonly device?: boolean;
  /** The identity provider, if the server has several. */
  readonly issuer?: string;
}

/** A way to get a token for a server. */
interface LoginMethod {
  isMeant(io: Pick<Io, 'env'>, options: LoginOptions): boolean;
  obtain(io: Io, options: LoginOptions): Promise<string>;
}

/** The first applicable method is used. */
const METHODS: readonly LoginMethod[] = [
  {
    isMeant: (_io, options) => options.as !== undefined,
    obtain: (_io, options) => Promise.resolve(`dev:${options.as ?? ''}`),
  },
  {
    isMeant: (_io, { tokenStdin = false }) => tokenStdin,
    obtain: async (io) => parseToken(await io.input(), 'the standard input'),
  },
  {
    isMeant: ({ env }) => Boolean(env.CONVEYOR_TOKEN),
    obtain: ({ env }) => Promise.resolve(parseToken(env.CONVEYOR_TOKEN ?? '', 'CONVEYOR_TOKEN')),
  },
];

/** @throws ConveyorError `usage` if no sign-in method is available; `sign-in-failed` */
export async function obtainGrant(io: Io, url: string, options: LoginOptions): Promise<Grant> {
  const method = METHODS.find(({ isMeant }) => isMeant(io, options));
  if (method) return { token: await method.obtain(io, options) };
  const offers = await askAt(toHttpOptions(io, { url, token: null })).signInOffers();
  // A remote shell has no browser.
  const device = options.device ?? Boolean(io.env.SSH_CONNECTION);
  return signIn(io, chooseOffer(offers, url, options.issuer), { device });
}

function chooseOffer(offers: readonly SignInOffer[], url: string, issuer: string | undefined): SignInOffer {
  const meant = issuer === undefined ? offers : offers.filter((offer) => offer.issuer === issuer);
  const [only, ...others] = meant;
  if (only !== undefined && others.length === 0) return only;
  if (offers.length > 0)
    throw conveyorError('usage', {
      text: issuer === undefined ? 'this server has several identity providers' : `this server knows no ${issuer}`,
      hint: `name one: ${offers.map((offer) => `--issuer ${offer.issuer}`).join(' or ')}`,
    });
  throw conveyorError('usage', {
    text: 'you have no token, and this server has no identity provider',
    hint: `pass a token of the server: printf %s "$TOKEN" | conveyor login ${url} --token-stdin`,
  });
}
