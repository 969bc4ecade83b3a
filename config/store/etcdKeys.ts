import { conveyorError } from '../../domain/errors';
import { whyNotConfigPath } from '../../domain/config/path';
import type { KeyRange } from './etcdWire';
import type { Override, StoredValue } from './port';

/**
 * How a repository lies in etcd. No path has a colon, so that all of one path is one range:
 *
 *     /conveyor/config/flags/head               { sequence, commit, partly? }
 *     /conveyor/config/flags/p/a/b:value        a header in JSON, a line break, the value; the header alone once it was deleted
 *     /conveyor/config/flags/p/a/b:exposed      changes whenever the overrides of the path do
 *     /conveyor/config/flags/p/a/b:override/ID  a header in JSON, a line break, the value
 *     /conveyor/config/flags/o/ID:a/b           which paths a deploy overrides
 *     /conveyor/config/flags/a/a/b:HOST         what the host acknowledged, with a lease
 *
 * A value stands behind its header as it is: quoted in JSON, one of 1 MiB could become larger than etcd takes.
 */
export class Keys {
  private readonly root: string;

  constructor(repository: string) {
    if (repository.includes('/') || whyNotConfigPath(repository) !== undefined)
      throw conveyorError('invalid-text', {
        what: `the repository ${JSON.stringify(repository)}`,
        why: 'is not a name',
      });
    this.root = `/conveyor/config/${repository}`;
  }

  /** All of the repository, and what hosts write of it. */
  get everything(): KeyRange {
    return below(`${this.root}/`);
  }

  get acknowledgements(): KeyRange {
    return below(`${this.root}/a/`);
  }

  get head(): string {
    return `${this.root}/head`;
  }

  value = (path: string): string => `${this.root}/p/${path}:value`;
  exposed = (path: string): string => `${this.root}/p/${path}:exposed`;
  override = (path: string, id: string): string => `${this.root}/p/${path}:override/${id}`;
  overridesOf = (path: string): KeyRange => below(`${this.root}/p/${path}:override/`);
  allOf = (path: string): KeyRange => below(`${this.root}/p/${path}:`);
  indexed = (id: string, path: string): string => `${this.root}/o/${id}:${path}`;
  indexedOf = (id: string): KeyRange => below(`${this.root}/o/${id}:`);
  pathOfIndexed = (key: string): string => key.slice(key.lastIndexOf(':') + 1);
  /** The path and the host of such a key. */
  acknowledgedIn(key: string): { readonly path: string; readonly host: string } {
    const at = key.lastIndexOf(':');
    return { path: key.slice(`${this.root}/a/`.length, at), host: key.slice(at + 1) };
  }

  acknowledged = (path: string, host: string): string => `${this.root}/a/${path}:${host}`;
  /** Of one that ends with a slash, or is empty, all below it. */
  acknowledgedOf = (path: string): KeyRange =>
    below(`${this.root}/a/${path}${path === '' || path.endsWith('/') ? '' : ':'}`);
}

/** All keys that begin so. */
const below = (prefix: string): KeyRange => ({
  key: prefix,
  end: prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1),
});

/** `partly` of the commit after it, of which so many values are there already. */
export interface HeadRecord {
  readonly sequence: number;
  readonly commit: string;
  readonly partly?: { readonly commit: string; readonly done: number };
}

export const decodeHead = (text: string | undefined): HeadRecord =>
  text === undefined ? { sequence: 0, commit: '' } : (JSON.parse(text) as HeadRecord);

interface ValueHeader {
  readonly version: string;
  readonly commit: string;
  readonly sequence: number;
}

type OverrideHeader = Omit<Override, 'path' | 'value'>;

export const encode = (header: ValueHeader | OverrideHeader, value: string | null): string =>
  value === null ? JSON.stringify(header) : `${JSON.stringify(header)}\n${value}`;

function decode<T>(text: string): { readonly header: T; readonly value: string | null } {
  const at = text.indexOf('\n');
  const header = JSON.parse(at === -1 ? text : text.slice(0, at)) as T;
  return { header, value: at === -1 ? null : text.slice(at + 1) };
}

/** `stored` is null once the path was deleted. */
export function decodeValue(path: string, text: string): ValueHeader & { readonly stored: StoredValue | null } {
  const { header, value } = decode<ValueHeader>(text);
  return { ...header, stored: value === null ? null : { path, value, ...header } };
}

export function decodeOverride(path: string, text: string): Override {
  const { header, value } = decode<OverrideHeader>(text);
  return { ...header, path, value };
}
