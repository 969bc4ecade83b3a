import { conveyorError } from '../../domain/errors';
import { whyNotConfigPath } from '../domain/path';
import type { KeyRange } from './etcdWire';

/**
 * The layout of a repository in etcd. No path has a colon, so all keys of one path are one range:
 *
 *     /conveyor/config/flags/head               { sequence, commit, partly? }
 *     /conveyor/config/flags/p/a/b:value        a header in JSON, a line break, the value; only the header once it is deleted
 *     /conveyor/config/flags/p/a/b:exposed      changes whenever the overrides of the path do
 *     /conveyor/config/flags/p/a/b:override/ID  a header in JSON, a line break, the value
 *     /conveyor/config/flags/o/ID:a/b           the paths that a deploy overrides
 *     /conveyor/config/flags/a/a/b:HOST         the host's acknowledgement, with a lease
 *     /conveyor/config/flags/n/HOST             the host has its own role: only the next key counts
 *     /conveyor/config/flags/h/HOST:a/b         the acknowledgement of such a host, with a lease
 *
 * `etcdRecords.ts` defines the format of records.
 */
export class Keys {
  private readonly root: string;

  constructor(readonly repository: string) {
    if (repository.includes('/') || whyNotConfigPath(repository) !== undefined)
      throw conveyorError('invalid-text', {
        what: `the repository ${JSON.stringify(repository)}`,
        why: 'is not a name',
      });
    this.root = `/conveyor/config/${repository}`;
  }

  /** All of the repository, including acknowledgements of hosts. */
  get everything(): KeyRange {
    return below(`${this.root}/`);
  }

  get acknowledgements(): KeyRange {
    return below(`${this.root}/a/`);
  }

  /** Hosts that have their own role. */
  get named(): KeyRange {
    return below(`${this.root}/n/`);
  }

  /** The acknowledgements of all hosts with their own role. */
  get own(): KeyRange {
    return below(`${this.root}/h/`);
  }

  /** Values, overrides and their marks. */
  get ofPaths(): KeyRange {
    return below(`${this.root}/p/`);
  }

  get head(): string {
    return `${this.root}/head`;
  }

  value = (path: string): string => `${this.root}/p/${path}:value`;
  exposureMark = (path: string): string => `${this.root}/p/${path}:exposed`;
  override = (path: string, id: string): string => `${this.root}/p/${path}:override/${id}`;
  overrideRange = (path: string): KeyRange => below(`${this.root}/p/${path}:override/`);
  pathRange = (path: string): KeyRange => below(`${this.root}/p/${path}:`);
  indexKey = (id: string, path: string): string => `${this.root}/o/${id}:${path}`;
  indexRange = (id: string): KeyRange => below(`${this.root}/o/${id}:`);
  parseIndexKey = (key: string): string => key.slice(key.lastIndexOf(':') + 1);
  /** The path of a value or an override, and the id of an override. */
  parsePart(key: string): { readonly path: string; readonly override?: string } | undefined {
    const [, path = '', part = ''] = /^([^:]+):(.*)$/s.exec(key.slice(`${this.root}/p/`.length)) ?? [];
    if (part === 'value') return { path };
    return part.startsWith(OVERRIDE) ? { path, override: part.slice(OVERRIDE.length) } : undefined;
  }

  /** The path and the host of such a key. */
  parseAcknowledgementKey(key: string): { readonly path: string; readonly host: string } {
    const at = key.lastIndexOf(':');
    return { path: key.slice(`${this.root}/a/`.length, at), host: key.slice(at + 1) };
  }

  name = (host: string): string => `${this.root}/n/${host}`;
  parseNameKey = (key: string): string => key.slice(`${this.root}/n/`.length);
  /** The acknowledgements of a host with its own role. */
  ownRange = (host: string): KeyRange => below(`${this.root}/h/${host}:`);
  ownAcknowledgementKey = (path: string, host: string): string => `${this.root}/h/${host}:${path}`;
  parseOwnAcknowledgementKey(key: string): { readonly path: string; readonly host: string } {
    const [, host = '', path = ''] = /^([^:]*):(.*)$/s.exec(key.slice(`${this.root}/h/`.length)) ?? [];
    return { path, host };
  }

  acknowledgementKey = (path: string, host: string): string => `${this.root}/a/${path}:${host}`;
  /** For a path that is empty or ends with a slash, everything below it. */
  acknowledgementRange = (path: string): KeyRange =>
    below(`${this.root}/a/${path}${path === '' || path.endsWith('/') ? '' : ':'}`);
}

const OVERRIDE = 'override/';

/** All keys with this prefix. */
const below = (prefix: string): KeyRange => ({
  key: prefix,
  end: prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1),
});
