import { setTimeout as wait } from 'node:timers/promises';
import { conveyorError } from '../../domain/errors';
import { RECEIVE_HERE, type Git } from './git';

export interface RemoteRef {
  readonly name: string;
  /** A commit, or any name of one. */
  readonly commit: string;
}

/** Sets a remote ref if it still has its former value; '' means that it does not exist. */
export interface RefUpdate {
  readonly object: string;
  readonly ref: string;
  readonly was: string;
}

/** Retries, because another process of this machine may use the same copy. */
const FETCHES = 5;
const BETWEEN_FETCHES_MS = 50;
/**
 * Each fetched ref is a separate file in the copy, and git reads all of them: 10,000 refs halve the rate of landings.
 */
const PACK_AFTER = 500;

/** The remote repository, reached by `git` from a copy. */
export class Remote {
  /** The number of refs fetched since the last packing; unknown for a copy used by another process. */
  private unpacked = PACK_AFTER;

  constructor(
    private readonly git: Git,
    /** A path or a URL for git. */
    private readonly address: string,
  ) {}

  async refs(...patterns: readonly string[]): Promise<readonly RemoteRef[]> {
    const args = ['ls-remote', '--quiet', '--refs', '--', this.address, ...patterns];
    const { code, out, err } = await this.git.exchange(args);
    if (code !== 0) throw this.git.failure(args, err);
    return out
      .toString('utf8')
      .split('\n')
      .flatMap((line) => {
        const [commit = '', name = ''] = line.split('\t');
        return name === '' ? [] : [{ name, commit }];
      });
  }

  async fetch(refspecs: readonly string[]): Promise<void> {
    const flags = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-gc', '--no-recurse-submodules'];
    const args = ['fetch', ...flags, '--', this.address, ...refspecs];
    for (let left = FETCHES; ; left -= 1) {
      const { code, err } = await this.git.exchange(args);
      if (code === 0) return this.pack(refspecs.length);
      if (left === 1 || !/cannot lock ref|unable to update local ref/i.test(err)) throw this.git.failure(args, err);
      await wait(BETWEEN_FETCHES_MS);
    }
  }

  /** A concurrent packing serves both processes, and a full disk must not block access to the fetched refs. */
  private async pack(fetched: number): Promise<void> {
    this.unpacked += fetched;
    if (this.unpacked < PACK_AFTER) return;
    this.unpacked = 0;
    await this.git.run(['pack-refs', '--all']);
  }

  /** Pushes all or none; false if one had changed. */
  async push(updates: readonly RefUpdate[]): Promise<boolean> {
    const args = [
      ...['push', '--quiet', '--porcelain', '--no-verify', ...(updates.length > 1 ? ['--atomic'] : [])],
      ...updates.map(({ ref, was }) => `--force-with-lease=${ref}:${was}`),
      ...(isOnThisMachine(this.address) ? [`--receive-pack=${RECEIVE_HERE}`] : []),
      ...['--', this.address],
      ...updates.map(({ object, ref }) => `${object}:${ref}`),
    ];
    const { code, out, err } = await this.git.exchange(args);
    if (code === 0) return true;
    if (WAS_FIRST.test(`${out.toString()}\n${err}`)) return false;
    throw this.git.failure(args, err);
  }

  /** @throws ConveyorError `config-repository-unusable` */
  broken(ref: string, commit: string): Error {
    return conveyorError('config-repository-unusable', {
      repository: this.git.repository,
      detail: `${ref} is ${commit}, which is not a commit`,
    });
  }
}

/** Like git: a colon before the first slash names a host or a protocol. */
const isOnThisMachine = (address: string): boolean => address.startsWith('file://') || !/^[^/]*:/.test(address);

/** Errors of a lost lease or a locked remote ref: another push was first. */
const WAS_FIRST =
  /stale info|already exists|cannot lock ref|reference already exists|fetch first|failed to update ref|is at [0-9a-f]+ but expected/i;
