import { hash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { checkPrivate } from './checkPrivate';

/** The answer to a token: of this host, of another one, or of none. */
export type TokenMatch = 'own' | 'other' | 'none';

const TOKEN_BYTES = 16;
const HOST_BYTES = 8;
const ROW_BYTES = TOKEN_BYTES + HOST_BYTES;
/** A shorter token can be guessed. */
const LEAST_TOKEN = 16;

/**
 * The tokens of hosts, one a line: `<host> <token>`. It keeps digests alone: rows of 24 bytes, three in four taken. A token is found by its digest, of which a caller learns nothing from
 * the time that the look-up takes.
 */
export class HostTokens {
  private constructor(
    private readonly rows: Buffer,
    private readonly size: number,
    readonly count: number,
  ) {}

  /** @throws Error that names the line of the mistake, or the permissions of the file */
  static read(path: string): HostTokens {
    checkPrivate(path);
    return HostTokens.parse(readFileSync(path, 'utf8'), path);
  }

  static parse(text: string, path: string): HostTokens {
    const lines = text.split('\n');
    const size = Math.max(7, Math.ceil(lines.length * 1.3));
    const rows = Buffer.alloc(size * ROW_BYTES);
    let count = 0;
    lines.forEach((line, index) => {
      if (line.trim() === '' || line.startsWith('#')) return;
      const [host, token, ...rest] = line.trim().split(/\s+/);
      if (host === undefined || token === undefined || rest.length > 0)
        throw new Error(`${path}:${index + 1}: expected a host and its token`);
      if (token.length < LEAST_TOKEN)
        throw new Error(`${path}:${index + 1}: the token of ${host} is shorter than ${LEAST_TOKEN}`);
      putToken(rows, size, token, host);
      count += 1;
    });
    return new HostTokens(rows, size, count);
  }

  /** The bytes of its memory. */
  get bytes(): number {
    return this.rows.byteLength;
  }

  match(token: string, host: string): TokenMatch {
    const digest = digestText(token, TOKEN_BYTES);
    const place = findRow(this.rows, this.size, digest);
    if (!isTaken(this.rows, place)) return 'none';
    const own = this.rows.subarray(place * ROW_BYTES + TOKEN_BYTES, (place + 1) * ROW_BYTES);
    return timingSafeEqual(own, digestText(host, HOST_BYTES)) ? 'own' : 'other';
  }

  /** Whether a host has a token. */
  listHosts(): { readonly has: (host: string) => boolean } {
    const known = new Set<string>();
    for (let place = 0; place < this.size; place += 1)
      if (isTaken(this.rows, place))
        known.add(this.rows.toString('latin1', place * ROW_BYTES + TOKEN_BYTES, (place + 1) * ROW_BYTES));
    return { has: (host) => known.has(digestText(host, HOST_BYTES).toString('latin1')) };
  }
}

function putToken(rows: Buffer, size: number, token: string, host: string): void {
  const digest = digestText(token, TOKEN_BYTES);
  const place = findRow(rows, size, digest);
  digest.copy(rows, place * ROW_BYTES);
  digestText(host, HOST_BYTES).copy(rows, place * ROW_BYTES + TOKEN_BYTES);
}

/** The row of a token, or the free one where it would stand. */
function findRow(rows: Buffer, size: number, digest: Buffer): number {
  for (let place = digest.readUInt32LE(0) % size; ; place = (place + 1) % size) {
    const from = place * ROW_BYTES;
    if (!isTaken(rows, place) || digest.compare(rows, from, from + TOKEN_BYTES) === 0) return place;
  }
}

/** No digest has eight bytes of zeros at its end, but by a chance of one in 2^64. */
const isTaken = (rows: Buffer, place: number): boolean => rows.readBigUInt64LE(place * ROW_BYTES + TOKEN_BYTES) !== 0n;

const digestText = (text: string, bytes: number): Buffer => hash('sha256', text, 'buffer').subarray(0, bytes);
