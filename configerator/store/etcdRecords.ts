import { z } from 'zod';
import { hasBlobId } from '../../sdk/blobId';
import type { Override, StoredValue } from './port';
import type { StoreSigning } from './signatures';

/** The record at a key. `fault`: why it cannot be trusted. `it` is missing if it cannot be read. `isOwn`: signed with this side's key. */
export interface FoundRecord<T> {
  readonly it?: T;
  readonly fault?: string;
  readonly isOwn: boolean;
  /** It carries a signature, of any key. */
  readonly isSealed?: boolean;
}

/** `partly`: how many values of the next commit are already there. */
export interface HeadRecord {
  readonly sequence: number;
  readonly commit: string;
  readonly partly?: { readonly commit: string; readonly done: number } | undefined;
}

const NO_HEAD: HeadRecord = { sequence: 0, commit: '' };

/** A committed value; `stored` is null if the path was deleted. */
export interface ValueRecord {
  readonly version: string;
  readonly commit: string;
  readonly sequence: number;
  /** Forged states, as `nameState` writes them: hosts take this value in their place, even if it is older. */
  readonly overrules?: readonly string[] | undefined;
  readonly stored: StoredValue | null;
}

const sequence = z.int().positive();
const counted = z.int().nonnegative();
const headSchema = z.object({
  sequence: counted,
  commit: z.string(),
  partly: z.object({ commit: z.string(), done: counted }).optional(),
});
const valueSchema = z.object({
  version: z.string(),
  commit: z.string(),
  sequence,
  overrules: z.array(z.string()).optional(),
});
const overrideSchema = z.object({
  id: z.string(),
  version: z.string(),
  revision: z.string(),
  hosts: z.array(z.string()).optional(),
  below: z.number().optional(),
  seed: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
});

/**
 * The format of records: a header in JSON, a line break, the value. The value follows unquoted because quoting could
 * make a value of 1 MiB larger than etcd accepts. No record makes a reader fail, whatever it contains.
 */
export class EtcdRecords {
  constructor(private readonly signing: StoreSigning) {}

  get isSigned(): boolean {
    return this.signing.isOn;
  }

  encode(key: string, header: object, value: string | null): string {
    const text = value === null ? JSON.stringify(header) : `${JSON.stringify(header)}\n${value}`;
    return this.signing.seal(key, text);
  }

  head(key: string, text: string | undefined): FoundRecord<HeadRecord> {
    return text === undefined ? { it: NO_HEAD, isOwn: true } : this.read(key, text, headSchema, (header) => header);
  }

  value(key: string, path: string, text: string): FoundRecord<ValueRecord> {
    return this.read(key, text, valueSchema, (header, value) => ({
      ...header,
      stored: value === null ? null : { path, value, ...header },
    }));
  }

  override(key: string, path: string, text: string): FoundRecord<Override> {
    return this.read(key, text, overrideSchema, (header, value) => ({ ...header, path, value }) as Override);
  }

  private read<H extends object, T>(
    key: string,
    sealed: string,
    schema: z.ZodType<H>,
    make: (header: H, value: string | null) => T,
  ): FoundRecord<T> {
    const { text, isOwn, isSealed, fault } = this.signing.open(key, sealed);
    const at = text.indexOf('\n');
    const header = headerIn(at === -1 ? text : text.slice(0, at), schema);
    if (header === undefined) return { isOwn: false, isSealed, fault: fault ?? 'it cannot be read' };
    const value = at === -1 ? null : text.slice(at + 1);
    const wrong = value !== null && 'version' in header && !hasBlobId(value, String(header.version));
    const why = fault ?? (wrong ? 'it is not what its version says' : undefined);
    return { it: make(header, value), isOwn, isSealed, ...(why === undefined ? {} : { fault: why }) };
  }
}

function headerIn<H>(line: string, schema: z.ZodType<H>): H | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
