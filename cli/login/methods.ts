import { conveyorError } from '../../domain/errors';
import type { Io } from '../io';
import { tokenIn } from './token';

export interface LoginOptions {
  readonly tokenStdin?: boolean;
}

/** A way to come by a token for a server. */
interface Method {
  isMeant(io: Pick<Io, 'env'>, options: LoginOptions): boolean;
  obtain(io: Io, url: string): Promise<string>;
}

/** The first that is meant is taken. */
const METHODS: readonly Method[] = [
  {
    isMeant: (_io, { tokenStdin = false }) => tokenStdin,
    obtain: async (io) => tokenIn(await io.input(), 'the standard input'),
  },
  {
    isMeant: ({ env }) => Boolean(env.CONVEYOR_TOKEN),
    obtain: ({ env }) => Promise.resolve(tokenIn(env.CONVEYOR_TOKEN ?? '', 'CONVEYOR_TOKEN')),
  },
];

/** @throws ConveyorError `usage` where nothing says who somebody is */
export function obtainToken(io: Io, url: string, options: LoginOptions): Promise<string> {
  const method = METHODS.find(({ isMeant }) => isMeant(io, options));
  if (method) return method.obtain(io, url);
  throw conveyorError('usage', {
    text: 'nothing says who you are',
    hint: `give a token that the server takes: printf %s "$TOKEN" | conveyor login ${url} --token-stdin`,
  });
}
