import { conveyorError } from '../../domain/errors';

/** A signed token of a provider has a few kilobytes. */
const MAX_LENGTH = 16_384;

/** The given token without its line break. @throws ConveyorError `usage`, which never quotes the token */
export function parseToken(text: string, from: string): string {
  const token = text.trim();
  if (/^[\x21-\x7e]+$/.test(token) && token.length <= MAX_LENGTH) return token;
  throw conveyorError('usage', {
    text: token === '' ? `there is no token in ${from}` : `${from} does not contain a token`,
    hint: 'a token is one word of plain ASCII; it is the value of the variable that tokens of the server name',
  });
}
