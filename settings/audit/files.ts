import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { ChainReader, recordIn, type Break, type Ends, type Link } from '../../domain/audit/chain';
import type { AuditRecord } from '../../domain/audit/record';
import { sha256 } from '../../sdk/digest';

/** Changes and refusals form two chains in separate files, because anyone can cause any number of refusals. */
export const CHAINS = ['changes', 'refusals'] as const;
export type Chain = (typeof CHAINS)[number];

/** The files of a chain. */
export interface ChainFiles {
  /** The file being written. */
  readonly current: string;
  /** The server's note of the ends of the chain. */
  readonly ends: string;
  /** Incomplete records, from when a server was killed. */
  readonly torn: string;
  /** The name that the current file gets once another follows, by the number of its first record. */
  older(first: number): string;
}

/** `audit.jsonl`, `audit.000000000001.jsonl`, `audit.ends.json`; `audit.refused.jsonl`, … */
export function locateChain(file: string, chain: Chain): ChainFiles {
  const stem = file.replace(/\.jsonl$/, '') + (chain === 'refusals' ? '.refused' : '');
  return {
    ...{ current: `${stem}.jsonl`, ends: `${stem}.ends.json`, torn: `${stem}.torn.txt` },
    older: (first) => `${stem}.${String(first).padStart(DIGITS, '0')}.jsonl`,
  };
}

const DIGITS = 12;

/** A file with records, and the number of its first record if its name has it. */
export interface ChainPart {
  readonly path: string;
  readonly first: number | null;
}

/** All files of a chain, oldest first. None if the folder does not exist. */
export async function listParts(files: ChainFiles): Promise<readonly ChainPart[]> {
  const folder = dirname(files.current);
  const stem = basename(files.current, '.jsonl');
  const names = await readdir(folder).catch((): string[] => []);
  const older = names.flatMap((name) => {
    const number = name.startsWith(`${stem}.`) ? /^(\d{12})\.jsonl$/.exec(name.slice(stem.length + 1))?.[1] : undefined;
    return number === undefined ? [] : [{ path: join(folder, name), first: Number(number) }];
  });
  older.sort((a, b) => a.first - b.first);
  return names.includes(basename(files.current)) ? [...older, { path: files.current, first: null }] : older;
}

/** Null if there is no readable note. */
export async function readEnds(files: ChainFiles): Promise<Ends | null> {
  try {
    const { first, last } = JSON.parse(await readFile(files.ends, 'utf8')) as Partial<Ends>;
    return isLink(first) && isLink(last) ? { first, last } : null;
  } catch {
    return null;
  }
}

const isLink = (value: Link | undefined): value is Link =>
  Number.isInteger(value?.seq) && typeof value?.hash === 'string';

/** Lines of a file, however large, from some byte on. */
export async function* streamLines(path: string, start: number = 0): AsyncGenerator<string> {
  const input = createReadStream(path, { encoding: 'utf8', start });
  // Without a listener, an error before iteration begins would end the process.
  input.on('error', () => undefined);
  for await (const line of createInterface({ input, crlfDelay: Infinity })) yield line;
}

/** The result of verifying a chain. */
export interface ChainVerification {
  readonly chain: Chain;
  readonly file: string;
  readonly records: number;
  /** The last valid record. A copy of its hash kept elsewhere proves all earlier records. */
  readonly last: Link | null;
  /** Whether the server's note of the ends was there. Without it, only a hash known from elsewhere shows that no record is missing at the end. */
  readonly hasEnds: boolean;
  readonly broken: (Omit<Break, 'line'> & { readonly file: string; readonly line: number }) | null;
}

/**
 * Verifies a whole audit. Servers note the ends of both chains when they start, so a chain that is missing as a whole
 * is noticed.
 * @param expect records whose hashes are known from elsewhere, such as from CloudEvents
 */
export async function verifyAudit(
  file: string,
  expect: Readonly<Partial<Record<Chain, Link>>> = {},
): Promise<readonly ChainVerification[]> {
  const chains = await Promise.all(CHAINS.map((chain) => verifyChain(file, chain, expect[chain] ?? null)));
  const isOfServer = chains.some(({ hasEnds }) => hasEnds);
  return chains.map((one) =>
    isOfServer && !one.hasEnds && one.records === 0 && one.broken === null
      ? { ...one, broken: { seq: 1, file: one.file, line: 1, why: 'its files are missing, and the note of its ends' } }
      : one,
  );
}

/** Verifies a whole chain. `expect` is a record whose hash is known from elsewhere. */
export async function verifyChain(file: string, chain: Chain, expect: Link | null = null): Promise<ChainVerification> {
  const files = locateChain(file, chain);
  const ends = await readEnds(files);
  const reader = new ChainReader(sha256, ends);
  const starts: { readonly path: string; readonly line: number }[] = [];
  const parts = (await listParts(files)).filter(
    ({ first }) => first === null || ends === null || first > ends.first.seq,
  );
  let [line, isExpected] = [0, expect === null];
  for (const { path } of parts) {
    starts.push({ path, line });
    for await (const text of streamLines(path)) {
      line += 1;
      reader.read(text);
      if (expect !== null && recordIn(text)?.seq === expect.seq) isExpected = recordIn(text)?.hash === expect.hash;
    }
  }
  const { records, last, broken: found } = reader.end();
  const missing = { seq: expect?.seq ?? 0, line: 0, why: 'there is no record of this number with this hash' };
  const isUnproven = ends === null && expect === null && records > 0;
  const unproven = { seq: (last?.seq ?? 0) + 1, line: line + 1, why: UNPROVEN };
  const broken = found ?? (isExpected ? (isUnproven ? unproven : null) : missing);
  const place = broken && (starts.findLast((start) => start.line < broken.line) ?? { path: files.current, line: 0 });
  return {
    ...{ chain, file: files.current, records, last, hasEnds: ends !== null },
    broken: broken && place && { ...broken, file: place.path, line: broken.line - place.line },
  };
}

const UNPROVEN =
  'records may be missing here: the note of the ends is gone. The hash of a later record, kept elsewhere, shows it (--expect)';

/** A query for records. */
export interface AuditQuery {
  readonly pipeline?: string | undefined;
  readonly actor?: string | undefined;
  /** RFC 3339, inclusive. */
  readonly since?: string | undefined;
  readonly outcome?: AuditRecord['outcome'] | undefined;
  readonly operation?: AuditRecord['operation'] | undefined;
  readonly limit: number;
  /** Records before these numbers, by chain. */
  readonly before?: Readonly<Partial<Record<Chain, number>>> | undefined;
}

export interface AuditPage {
  /** Newest first. */
  readonly records: readonly AuditRecord[];
  /** The value of `before` for the next older page; null on the last page. */
  readonly next: Readonly<Record<Chain, number>> | null;
}

/** The newest records that fit, of both chains. Keeps only the answer in memory. */
export async function readAudit(file: string, query: AuditQuery): Promise<AuditPage> {
  const found = await Promise.all(
    CHAINS.map(async (chain) => (await newestRecords(file, chain, query)).map((record) => ({ chain, record }))),
  );
  const all = found.flat().sort((a, b) => (a.record.at === b.record.at ? 0 : a.record.at < b.record.at ? 1 : -1));
  const shown = all.slice(0, query.limit);
  const lowest = (chain: Chain): number =>
    Math.min(
      query.before?.[chain] ?? Infinity,
      ...shown.flatMap((one) => (one.chain === chain ? [one.record.seq] : [])),
    );
  const isMore = all.length > query.limit || found.some((each) => each.length >= query.limit);
  const bound = (chain: Chain): number => (Number.isFinite(lowest(chain)) ? lowest(chain) : Number.MAX_SAFE_INTEGER);
  return {
    records: shown.map(({ record }) => record),
    next: isMore ? { changes: bound('changes'), refusals: bound('refusals') } : null,
  };
}

async function newestRecords(file: string, chain: Chain, query: AuditQuery): Promise<AuditRecord[]> {
  const found: AuditRecord[] = [];
  for (const { path } of [...(await listParts(locateChain(file, chain)))].reverse()) {
    const here: AuditRecord[] = [];
    let oldest: string | undefined;
    for await (const line of streamLines(path)) {
      const record = recordIn(line);
      oldest ??= record?.at;
      if (record === undefined || !matchesQuery(record, query) || record.seq >= (query.before?.[chain] ?? Infinity))
        continue;
      here.push(record);
      if (here.length > query.limit - found.length) here.shift();
    }
    found.push(...here.reverse());
    const isPast = query.since !== undefined && oldest !== undefined && oldest < query.since;
    if (found.length >= query.limit || isPast) break;
  }
  return found;
}

const matchesQuery = (
  { target, actor, at, outcome, operation }: AuditRecord,
  { pipeline, actor: of, since, outcome: only, operation: done }: AuditQuery,
): boolean =>
  (pipeline === undefined || target.split('/')[0] === pipeline) &&
  (of === undefined || actor === of) &&
  (since === undefined || at >= since) &&
  (only === undefined || outcome === only) &&
  (done === undefined || operation === done);
