import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** The place of packages, with `{version}` in it: a path or an http URL. */

export const SHA256_DIGEST = /^sha256:[0-9a-f]{64}$/;
const FILE_VERSION = /^[A-Za-z0-9][A-Za-z0-9._+:@-]{0,127}$/;

/** Whether a version can be the name of a file or folder, and a word of a command. */
export const isFileVersion = (text: string): boolean => FILE_VERSION.test(text) && !text.includes('..');

export const isRemote = (place: string): boolean => /^https?:\/\//.test(place);

export const fillVersion = (from: string, version: string): string =>
  from.replace('{version}', isRemote(from) ? encodeURIComponent(version) : version);

/** The bytes at a place. @throws Error if there is no file, or the server answers with another status than 200 or a redirect */
export async function openPackage(place: string, timeoutMs: number): Promise<Readable> {
  if (!isRemote(place)) {
    if (!(await stat(place)).isFile()) throw new Error('it is no file');
    return createReadStream(place);
  }
  const response = await fetch(place, { signal: AbortSignal.timeout(timeoutMs), redirect: 'error' });
  if (!response.ok || response.body === null) throw new Error(`it answered ${response.status}`);
  return Readable.fromWeb(response.body as never);
}
