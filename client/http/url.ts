import { conveyorError } from '../../domain/errors';
import { isPrivate } from '../../domain/loopback';

/**
 * The address of a server without its final slash, as a person typed it.
 * @throws ConveyorError `usage` for an invalid address, and for one to which a token would travel unencrypted, unless
 * `insecure`
 */
export function serverUrl(text: string, { insecure }: { readonly insecure: boolean }): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw conveyorError('usage', {
      // It may contain secrets.
      text: 'that is not a server address',
      hint: 'write it as https://conveyor.example.com; here http://localhost:4500 will do',
    });
  if (url.username !== '' || url.password !== '')
    throw conveyorError('usage', {
      text: 'the address of the server holds a name or a password',
      hint: 'leave it out of the address; conveyor login says who you are',
    });
  if (!insecure && !isPrivate(url.href))
    throw conveyorError('usage', {
      text: `${url.origin} is not encrypted, so others could read the token on its way`,
      hint: 'use https://, or add --insecure on a network that you trust',
    });
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}
