import { readFile, stat } from 'node:fs/promises';
import { recordIn } from '../../domain/audit/chain';
import type { AuditRecord } from '../../domain/audit/record';
import { CHAINS, locateChain, streamLines, listParts, type Chain, type ChainPart } from '../../settings/audit/files';
import { toSigningKey } from '../../settings/secrets';
import { signatureHeaders } from '../../settings/signature';
import { NoAnswer, sendRequest, type Fetch } from '../../sdk/request';
import { replaceFile } from '../../sdk/replaceFile';

export interface EventOptions {
  readonly file: string;
  readonly url: string;
  readonly secrets: readonly string[];
  readonly fetch: Fetch;
  now(): number;
  log(line: string): void;
}

export interface EventsState {
  /**
   * The time of the next record for the receiver, or since when none can be read, in ms since the epoch; null if it has
   * all.
   */
  readonly sinceMs: number | null;
  /** Failed deliveries since the start. */
  readonly failures: number;
}

const RECEIVER_TIMEOUT_MS = 10_000;
/** The pause between two tries while the receiver accepts nothing. */
const RETRY_PAUSES_MS = { least: 5_000, most: 300_000 };

type ChainPositions = Record<Chain, number>;

/**
 * Sends the records of each chain to a receiver in order, and repeats each until it is accepted. The files are the
 * queue, and the position is stored next to them, so a receiver may be away for as long as the files are kept. A record
 * whose answer was lost is sent again.
 */
export class AuditEvents {
  private position: ChainPositions | undefined;
  /** How far each file has been read, by its inode, which stays when it is renamed. */
  private readonly offsets = new Map<number, number>();
  private pauseMs = 0;
  private notBeforeMs = 0;
  private running: Promise<void> | undefined;
  private current: EventsState = { sinceMs: null, failures: 0 };

  private readonly notes: string;

  constructor(private readonly options: EventOptions) {
    this.notes = options.file.replace(/\.jsonl$/, '.sent.json');
  }

  state(): EventsState {
    return this.current;
  }

  /** Sends the pending records, up to the first that is not accepted. Never fails. */
  run(): Promise<void> {
    this.running ??= this.pass().finally(() => (this.running = undefined));
    return this.running;
  }

  private async pass(): Promise<void> {
    if (this.options.now() < this.notBeforeMs) return;
    try {
      const position = (this.position ??= await this.readPositions());
      for (const chain of CHAINS) await this.follow(chain, position);
      if (this.pauseMs > 0) this.options.log('audit: the receiver of events accepts them again');
      this.pauseMs = 0;
      this.current = { ...this.current, sinceMs: null };
    } catch (error) {
      const { sinceMs, failures } = this.current;
      this.current = { sinceMs: sinceMs ?? this.options.now(), failures: failures + 1 };
      // Logged once, without the address, which may contain a secret: the same line every minute would hide others.
      if (this.pauseMs === 0)
        this.options.log(`audit: events wait: ${error instanceof Error ? error.message : String(error)}`);
      this.pauseMs = Math.min(RETRY_PAUSES_MS.most, Math.max(RETRY_PAUSES_MS.least, 2 * this.pauseMs));
      this.notBeforeMs = this.options.now() + this.pauseMs;
    }
  }

  private async follow(chain: Chain, position: ChainPositions): Promise<void> {
    const parts = await listParts(locateChain(this.options.file, chain));
    for (const [index, part] of parts.entries()) {
      const after = parts[index + 1]?.first;
      // All of this file precedes the first record of the next one.
      if (typeof after === 'number' && after <= position[chain] + 1) continue;
      await this.sendFrom(part, chain, position);
    }
  }

  private async sendFrom({ path }: ChainPart, chain: Chain, position: ChainPositions): Promise<void> {
    const { ino, size } = await stat(path);
    let offset = this.offsets.get(ino) ?? 0;
    if (offset > size) offset = 0;
    for await (const line of streamLines(path, offset)) {
      const record = recordIn(line);
      // The last line may be incomplete.
      if (record === undefined && offset + Buffer.byteLength(line) >= size) break;
      if (record !== undefined && record.seq > position[chain]) {
        this.current = { ...this.current, sinceMs: Date.parse(record.at) };
        await this.send(record, chain);
        position[chain] = record.seq;
        await this.writePositions(position);
      }
      offset += Buffer.byteLength(line) + 1;
      this.offsets.set(ino, offset);
    }
  }

  private async send(record: AuditRecord, chain: Chain): Promise<void> {
    const { url, secrets, fetch: ask, now } = this.options;
    const event = auditEvent(record, chain);
    const body = JSON.stringify(event);
    const headers = {
      'content-type': 'application/cloudevents+json; charset=utf-8',
      ...signatureHeaders(secrets.map(toSigningKey), { id: event.id, atMs: now(), body }),
    };
    const sending = { fetch: ask, timeoutMs: RECEIVER_TIMEOUT_MS, maxBytes: 0 };
    const { status, ok } = await sendRequest(url, { method: 'POST', body, headers }, sending).catch(
      (error: unknown) => {
        throw new Error(`the receiver does not answer (${error instanceof NoAnswer ? error.code : String(error)})`);
      },
    );
    if (!ok) throw new Error(`the receiver answers with status ${status} to ${event.id}`);
  }

  /** Without a note of the position, or with one damaged by a power failure, everything is sent again. */
  private async readPositions(): Promise<ChainPositions> {
    const text = await readFile(this.notes, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{}';
      throw error;
    });
    const position = parsePositions(text);
    if (position === undefined) this.options.log(`audit: ${this.notes} is damaged: all records are sent again`);
    return position ?? { changes: 0, refusals: 0 };
  }

  private async writePositions(position: ChainPositions): Promise<void> {
    await replaceFile(this.notes, JSON.stringify(position), { mode: 0o600 });
  }
}

function parsePositions(text: string): ChainPositions | undefined {
  try {
    const { changes = 0, refusals = 0 } = JSON.parse(text) as Partial<ChainPositions>;
    return [changes, refusals].every(Number.isSafeInteger) ? { changes, refusals } : undefined;
  } catch {
    return undefined;
  }
}

/** CloudEvents 1.0, structured. The id is unique to the record, and the same each time it is sent. */
const auditEvent = (record: AuditRecord, chain: Chain) => ({
  specversion: '1.0',
  id: `${record.server}/${chain}/${record.seq}`,
  source: `/conveyor/audit/${record.server}`,
  type: `dev.conveyor.audit.${record.outcome}`,
  ...(record.target === '' ? {} : { subject: record.target }),
  time: record.at,
  datacontenttype: 'application/json',
  data: record,
});
