import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { flushFile, flushFolder, writeFully } from './disk';
import { limitTime, openAnswer, type TlsFiles } from './request';
import { AnswerError, findCause, RefusalError, SlowError } from './trouble';

export interface DownloadOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsFiles;
  /** `sha256:…` */
  readonly digest: string;
  readonly size: number;
  /** The folder of complete and partial downloads. */
  readonly folder: string;
  /** The download pauses after this time, so that the agent polls in between. */
  readonly sliceMs: number;
  /** The longest time for `LEAST_BYTES`: a server that drips is given up, until the next attempt. */
  readonly stallMs: number;
}

/** The bytes are not those that the manifest names. */
class DigestError extends RefusalError {
  override readonly name = 'DigestError';
}

const LEAST_BYTES = 16 * 1024;
const SLICE_OVER = 'the time of this part of the download is over';

/** The name of a download; the same for all packages with these bytes. */
export const nameDownload = (digest: string): string => `${digest.replace('sha256:', '')}.tar.gz`;

/**
 * Downloads the rest of a package. The file gets its name only once its size and digest are right.
 * @returns its path; undefined if the time of this part is over
 * @throws DigestError, after which nothing is left; the error of the network or the disk, after which the next attempt resumes
 */
export async function downloadPart(options: DownloadOptions): Promise<string | undefined> {
  const { folder, digest, size } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, nameDownload(digest));
  const part = `${file}.part`;
  if (existsSync(file)) return file;
  if (measureFile(part) > size) rmSync(part);
  const isResumed = measureFile(part) > 0;
  if (measureFile(part) < size || size === 0) {
    const isWhole = await appendRest(part, options);
    if (!isWhole) return undefined;
  }
  if ((await hashFile(part)) !== digest) {
    rmSync(part, { force: true });
    // A power loss may have damaged the part that was here: only bytes that all came now accuse the server.
    if (isResumed) return downloadPart(options);
    throw new DigestError(`${options.url.href} has another digest than the manifest`);
  }
  flushFile(part);
  renameSync(part, file);
  flushFolder(folder);
  return file;
}

const measureFile = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Whether all bytes are there; false if the time of this part was over first. */
async function appendRest(part: string, options: DownloadOptions): Promise<boolean> {
  const patience = limitTime(options.sliceMs, SLICE_OVER);
  const stall = watchStall(options.stallMs, `${options.url.host} sends too slowly`);
  const handle = openSync(part, 'a', 0o600);
  try {
    const have = measureFile(part);
    const range: Record<string, string> = have > 0 ? { range: `bytes=${have}-` } : {};
    const { url, headers, tls } = options;
    const signal = AbortSignal.any([patience.signal, stall.signal]);
    const answer = await openAnswer({ method: 'GET', url, headers: { ...headers, ...range }, tls, signal });
    let at = findStart(answer, have, options);
    if (at === 0 && have > 0) ftruncateSync(handle, 0);
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      at += chunk.length;
      if (at > options.size) throw new DigestError(`${url.href} has more bytes than the manifest names`);
      writeFully(handle, chunk);
      stall.count(chunk.length);
    }
    if (at < options.size) throw new AnswerError(`${url.host} ended the download at ${at} of ${options.size} bytes`);
    return true;
  } catch (error) {
    if (error instanceof DigestError) rmSync(part, { force: true });
    // Room for the version that runs matters more than the part that is here.
    if (findCause(error) === 'disk-full') rmSync(part, { force: true });
    if (stall.signal.aborted) throw stall.signal.reason as Error;
    if (patience.signal.aborted) return false;
    throw error;
  } finally {
    closeSync(handle);
    patience.end();
    stall.end();
  }
}

/** The position at which the body of the answer begins. */
function findStart(answer: IncomingMessage, have: number, { url, size }: DownloadOptions): number {
  const length = Number(answer.headers['content-length'] ?? 0);
  if (answer.statusCode === 206) {
    const from = /^bytes (\d+)-/.exec(answer.headers['content-range'] ?? '')?.[1];
    if (Number(from) !== have) throw new DigestError(`${url.host} sent another part than was requested`);
    if (have + length > size) throw new DigestError(`${url.href} has more bytes than the manifest names`);
    return have;
  }
  // The file became shorter: it is another one.
  if (answer.statusCode === 416) throw new DigestError(`${url.href} has fewer bytes than the manifest names`);
  if (answer.statusCode !== 200) throw new AnswerError(`${url.href} answered ${answer.statusCode}`);
  if (length > size) throw new DigestError(`${url.href} has more bytes than the manifest names`);
  return 0;
}

/** A signal that aborts once fewer than `LEAST_BYTES` came in `ms`. */
function watchStall(
  ms: number,
  message: string,
): { readonly signal: AbortSignal; count(bytes: number): void; end(): void } {
  const abort = new AbortController();
  let bytes = 0;
  const timer = setInterval(() => {
    if (bytes < LEAST_BYTES) abort.abort(new SlowError(message));
    bytes = 0;
  }, ms);
  return { signal: abort.signal, count: (more) => void (bytes += more), end: () => clearInterval(timer) };
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return `sha256:${hash.digest('hex')}`;
}
