import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Context } from 'hono';
import { SLOWROLL_LIMITS } from '../../../sdk';
import type { PackageStore } from './packageStore';

/** Sends the bytes of packages, whole or from a place on. */

const RETRY_SECONDS = 30;
/** Agents pause a download after five minutes, and resume it. */
const LONGEST_DOWNLOAD_MS = 15 * 60_000;

/** The downloads under way. A host has a few at most, and none for long: one that never reads keeps no other from its package. */
export class RunningDownloads {
  private readonly byCaller = new Map<string, number>();
  private all = 0;

  constructor(private readonly longestMs = LONGEST_DOWNLOAD_MS) {}

  /** Why a caller gets no further download now. */
  whyNot(caller: string): { readonly status: 429 | 503; readonly error: string } | undefined {
    if ((this.byCaller.get(caller) ?? 0) >= SLOWROLL_LIMITS.hostDownloads.max)
      return { status: 429, error: 'this host has too many downloads under way' };
    return this.all < SLOWROLL_LIMITS.downloads.max
      ? undefined
      : { status: 503, error: 'too many downloads are under way' };
  }

  open(caller: string, file: string, { first, last }: ByteRange): ReadableStream {
    if (last < first) return new Blob([]).stream();
    this.count(caller, 1);
    const source = createReadStream(file, { start: first, end: last });
    const timer = setTimeout(() => source.destroy(), this.longestMs);
    source.once('close', () => {
      clearTimeout(timer);
      this.count(caller, -1);
    });
    return Readable.toWeb(source) as ReadableStream;
  }

  private count(caller: string, change: 1 | -1): void {
    const now = (this.byCaller.get(caller) ?? 0) + change;
    if (now === 0) this.byCaller.delete(caller);
    else this.byCaller.set(caller, now);
    this.all += change;
  }
}

export interface PackageRequest {
  readonly store: PackageStore;
  readonly downloads: RunningDownloads;
  /** The token or the name of the host. */
  readonly caller: string;
}

/** The first and the last byte. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** The address names the digest, so the bytes of an address are always the same. */
export async function sendPackage(c: Context, { store, downloads, caller }: PackageRequest): Promise<Response> {
  const digest = `sha256:${c.req.param('digest') ?? ''}`;
  const found = store.locateFile(c.req.param('name') ?? '', digest);
  if (found === undefined) return c.json({ error: 'there is no such package' }, 404);
  const size = await stat(found.file).then(
    (file) => file.size,
    () => undefined,
  );
  // Agents would refuse the bytes: the file is another one now.
  if (size !== found.size) return c.json({ error: 'the file of the package has changed or is gone' }, 404);
  const etag = `"${digest}"`;
  const isSame = [undefined, etag].includes(c.req.header('if-range'));
  const range = isSame ? readRange(c.req.header('range'), size) : undefined;
  const headers = { etag, 'accept-ranges': 'bytes', 'content-type': 'application/octet-stream' };
  if (range === 'outside') return c.body(null, 416, { ...headers, 'content-range': `bytes */${size}` });
  const part = range ?? { first: 0, last: size - 1 };
  const length = { 'content-length': String(part.last - part.first + 1) };
  const place = { 'content-range': `bytes ${part.first}-${part.last}/${size}` };
  const [status, all] = range === undefined ? ([200, length] as const) : ([206, { ...length, ...place }] as const);
  // No caller reads a body of this answer.
  if (c.req.method === 'HEAD') return c.body(null, status, { ...headers, ...all });
  const refusal = downloads.whyNot(caller);
  if (refusal) return c.json({ error: refusal.error }, refusal.status, { 'retry-after': String(RETRY_SECONDS) });
  return c.body(downloads.open(caller, found.file, part), status, { ...headers, ...all });
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
