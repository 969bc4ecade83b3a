import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Context } from 'hono';
import { SLOWROLL_LIMITS } from '../../../sdk';
import type { PackageStore } from './packageStore';

/** Sends the bytes of packages, whole or from a place on. */

let downloads = 0;
const RETRY_SECONDS = 30;

/** The first and the last byte. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** The address names the digest, so the bytes of an address are always the same. */
export async function sendPackage(c: Context, store: PackageStore): Promise<Response> {
  const digest = `sha256:${c.req.param('digest') ?? ''}`;
  const found = store.locateFile(c.req.param('name') ?? '', digest);
  if (found === undefined) return c.json({ error: 'there is no such package' }, 404);
  const size = await stat(found.file).then(
    (file) => file.size,
    () => undefined,
  );
  // Agents would refuse the bytes: the file is another one now.
  if (size !== found.size) return c.json({ error: 'the file of the package has changed or is gone' }, 404);
  if (downloads >= SLOWROLL_LIMITS.downloads.max)
    return c.json({ error: 'too many downloads are under way' }, 503, { 'retry-after': String(RETRY_SECONDS) });
  const etag = `"${digest}"`;
  const isSame = [undefined, etag].includes(c.req.header('if-range'));
  const range = isSame ? readRange(c.req.header('range'), size) : undefined;
  const headers = { etag, 'accept-ranges': 'bytes', 'content-type': 'application/octet-stream' };
  if (range === 'outside') return c.body(null, 416, { ...headers, 'content-range': `bytes */${size}` });
  const { first, last } = range ?? { first: 0, last: size - 1 };
  const length = { 'content-length': String(last - first + 1) };
  if (range === undefined) return c.body(openFile(found.file, first, last), 200, { ...headers, ...length });
  const part = { ...length, 'content-range': `bytes ${first}-${last}/${size}` };
  return c.body(openFile(found.file, first, last), 206, { ...headers, ...part });
}

/** A single range; anything else is ignored, as the standard lets it. */
export function readRange(header: string | undefined, size: number): ByteRange | 'outside' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  if (first === '') {
    const count = Math.min(size, Number(last));
    return count === 0 ? 'outside' : { first: size - count, last: size - 1 };
  }
  const end = last === '' ? size - 1 : Math.min(size - 1, Number(last));
  if (Number(first) >= size) return 'outside';
  return end < Number(first) ? undefined : { first: Number(first), last: end };
}

function openFile(file: string, first: number, last: number): ReadableStream {
  if (last < first) return new Blob([]).stream();
  downloads += 1;
  const source = createReadStream(file, { start: first, end: last });
  source.once('close', () => (downloads -= 1));
  return Readable.toWeb(source) as ReadableStream;
}
