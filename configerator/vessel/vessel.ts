import type { Answer } from '../domain/heldValue';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { isPackagePath, readPackage, type Package } from '../domain/vessel/package';
import type { Candidate } from '../domain/vessel/peers';
import { modelPackageKey } from '../../sdk/modelKey';
import { pause } from '../../sdk/pause';
import type { HostAcknowledgement, ConfigStore } from '../store/port';
import type { PeerClient } from './peerClient';
import type { PieceDisk } from './disk';
import { PackageFetch } from './packageFetch';
import { Applications, type LoadReport } from './applications';
import type { PieceProvider } from './peerApp';
import type { Pieces } from './pieces';
import { ReadyVersions } from './ready';
import { streamPieces } from './inOrder';
import { KeptPackages } from './keptPackages';

export interface VesselOptions {
  readonly host: string;
  readonly repository: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly store: Pick<ConfigStore, 'subscribers'>;
  readonly disk: PieceDisk;
  /** The limit for all packages of this host together. */
  readonly mostBytes: number;
  readonly asking: PeerClient;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** Called when this host's report on a path has changed. */
  readonly onChange: (path: string) => void;
  readonly retryDiskMs?: number;
  /** How often files of packages are checked for changes by others. Default a minute. */
  readonly recheckMs?: number;
}

/** The newest configured value of a path, and this host's progress with it. */
interface PathPackage {
  readonly version: string;
  readonly pack: Package | undefined;
  readonly apps: Applications;
  readonly ending: AbortController;
  /** Why the value, or its pieces, are not a package. */
  invalid?: string;
  /** Why fetching fails. */
  trouble?: string | undefined;
  fetching?: PackageFetch;
}

const RETRY_DISK_MS = 10_000;
const RECHECK_MS = 60_000;

/**
 * Packages of one host (docs/design/config.md#packages). The configuration determines them: a later value replaces
 * the earlier one at once, even during a download. Pieces are exchanged with other hosts.
 */
export class Vessel implements PieceProvider {
  /** The address at which other hosts get pieces from this one; undefined if none. */
  address: string | undefined;
  private readonly wanted = new Map<string, PathPackage>();
  private readonly kept: KeptPackages;
  private readonly ready: ReadyVersions;
  private readonly ending = new AbortController();

  constructor(private readonly options: VesselOptions) {
    const { disk, mostBytes, now, log } = options;
    this.ready = new ReadyVersions(disk, log);
    this.kept = new KeptPackages({ disk, mostBytes, now, log, isNeeded: (...one) => this.isNeeded(...one) });
  }

  async start(): Promise<void> {
    await this.ready.load();
    await this.kept.load();
    void this.recheck();
  }

  close(): void {
    this.ending.abort();
    for (const { ending } of this.wanted.values()) ending.abort();
  }

  /** Sets the value that applications of this host should have from now on. */
  setWanted({ path, value, version }: Answer): void {
    if (!isPackagePath(path)) return;
    const before = this.wanted.get(path);
    if (before?.version === version) return;
    before?.ending.abort();
    const wanted = this.newWanted(path, value, version);
    this.wanted.set(path, wanted);
    this.options.onChange(path);
    if (wanted.pack) void this.fetch(path, wanted, wanted.pack);
  }

  /** The package's part of the acknowledgement of a version. */
  getAcknowledgement(path: string, version: string): Pick<HostAcknowledgement, 'loading' | 'refused' | 'peer'> {
    if (!isPackagePath(path) || version === '') return {};
    const wanted = this.wanted.get(path);
    if (wanted?.version !== version) return { loading: 'it has just come' };
    if (wanted.invalid !== undefined) return { refused: `config-proxy: ${wanted.invalid}` };
    return {
      ...wanted.apps.acknowledgement(this.ready.find(path) === version),
      ...(this.address === undefined ? {} : { peer: this.address }),
    };
  }

  /** Records an application's report on a version. One that this host no longer wants is ignored. */
  report({ path, version, app, ...loaded }: LoadReport): void {
    const wanted = this.wanted.get(path);
    if (wanted?.version !== version || wanted.pack === undefined || !wanted.apps.take(app, loaded)) return;
    if (wanted.apps.isReady) this.ready.put(path, { version, digest: wanted.pack.digest });
    this.options.onChange(path);
  }

  /** The progress of this host. @throws ConveyorError `not-found` for a path that it does not know */
  status(path: string) {
    const wanted = this.wanted.get(path);
    if (wanted === undefined) throw conveyorError('not-found', { what: `package ${path}` });
    const { version, pack, apps, invalid, trouble, fetching } = wanted;
    const pieces = pack && this.kept.get(path, pack);
    const why = invalid ?? trouble ?? fetching?.trouble;
    return {
      ...{ path, version },
      package: pack ? { ...pack, pieces: pack.pieces.length } : null,
      state:
        pack === undefined || invalid !== undefined
          ? ('none' as const)
          : pieces?.isWhole
            ? ('whole' as const)
            : ('fetching' as const),
      have: pieces?.count ?? 0,
      /** It holds the whole package once `state` is `whole`; before that it has holes. */
      file: pieces?.place ?? null,
      apps: apps.view,
      ...(why === undefined ? {} : { trouble: why }),
    };
  }

  /**
   * Streams pieces from a given one on, in order, as they arrive. @throws ConveyorError `not-found` for a package that
   * this host does not have
   */
  stream(wanted: { digest: string; key?: string | undefined }, from: number, onEnd: () => void) {
    const { digest, key } = wanted;
    const pieces = this.kept.find(digest, key);
    if (pieces === undefined) throw conveyorError('not-found', { what: `package ${digest.slice(0, 64)}` });
    return streamPieces(pieces, from, { isComing: () => this.isComing(pieces), onEnd });
  }

  getBits(digest: string, key?: string) {
    const pieces = this.kept.find(digest, key);
    return pieces && { pieces: pieces.pack.pieces.length, have: pieces.have };
  }

  async read(digest: string, piece: number, key?: string): Promise<Uint8Array | undefined> {
    return this.kept.find(digest, key)?.read(piece);
  }

  private newWanted(path: string, value: string | null, version: string): PathPackage {
    const common = { version, apps: new Applications(), ending: new AbortController() };
    if (value === null) return { ...common, pack: undefined };
    try {
      return { ...common, pack: readPackage(path, value) };
    } catch (error) {
      if (!(error instanceof ConveyorError)) throw error;
      this.options.log(error.message);
      return { ...common, pack: undefined, invalid: error.message };
    }
  }

  /** A file that others have damaged is fetched again before an application reads it. */
  private async recheck(): Promise<void> {
    const { signal } = this.ending;
    while (!signal.aborted) {
      await pause(this.options.recheckMs ?? RECHECK_MS, signal);
      if (!signal.aborted) await this.kept.recheck();
    }
  }

  /** Fetches until it is whole or no longer wanted, and again if the disk loses a piece later. */
  private async fetch(path: string, wanted: PathPackage, pack: Package): Promise<void> {
    const { signal } = wanted.ending;
    while (!signal.aborted) {
      const pieces = await this.hold(path, wanted, pack);
      // The disk may be slow, and a listener added after an abort never fires.
      if (pieces === undefined || signal.aborted) continue;
      const fetching = new PackageFetch(pieces, { ...this.options, peers: () => this.peers(path, wanted.version) });
      wanted.fetching = fetching;
      const stop = (): void => fetching.stop();
      signal.addEventListener('abort', stop);
      await fetching.run();
      signal.removeEventListener('abort', stop);
      if (pieces.otherDigest !== undefined) return this.refuse(path, wanted, pieces);
      await awaitBroken(pieces, signal);
    }
    // Readers must learn that no more pieces will come.
    this.kept.get(path, pack)?.notify();
  }

  /** The configuration names pieces that do not make the package of that digest, so no host is ever live on it. */
  private async refuse(path: string, wanted: PathPackage, { pack, otherDigest }: Pieces): Promise<void> {
    const why = `its pieces make a file with the digest ${otherDigest}, not ${pack.digest}`;
    wanted.invalid = conveyorError('package-invalid', { path, why }).message;
    this.options.log(wanted.invalid);
    await this.kept
      .drop(path, pack)
      .catch((error: unknown) => this.options.log(`it stays on the disk: ${String(error)}`));
    this.options.onChange(path);
  }

  private async hold(path: string, wanted: PathPackage, pack: Package): Promise<Pieces | undefined> {
    try {
      const pieces = await this.kept.hold(path, pack);
      wanted.trouble = undefined;
      return pieces;
    } catch (error) {
      const why = `there is no room: ${(error as Error).message}`;
      if (wanted.trouble !== why) this.options.log(`${pack.digest.slice(0, 12)}: ${why}`);
      wanted.trouble = why;
      await pause(this.options.retryDiskMs ?? RETRY_DISK_MS, wanted.ending.signal);
      return undefined;
    }
  }

  /** Hosts that acknowledge the same version. The store knows them even if the source is gone. */
  private async peers(path: string, version: string): Promise<readonly Candidate[]> {
    const { store, repository, host } = this.options;
    const all = await store.subscribers(repository, path);
    return all.flatMap(({ host: other, version: theirs, peer, labels }) =>
      peer !== undefined && other !== host && theirs === version ? [{ id: peer, labels }] : [],
    );
  }

  private isComing({ key }: Pieces): boolean {
    return [...this.wanted].some(
      ([path, { pack, ending, invalid }]) =>
        pack !== undefined && invalid === undefined && !ending.signal.aborted && modelPackageKey(path, pack) === key,
    );
  }

  /** Packages that the configuration names, or that applications use until they have loaded the new one. */
  private isNeeded(digest: string, path: string | null): boolean {
    const isNamed = [...this.wanted].some(
      ([its, { pack }]) => pack?.digest === digest && (path === null || its === path),
    );
    return isNamed || this.ready.has(digest, path);
  }
}

/** Resolves when the disk has lost a piece, or the signal is aborted. */
function awaitBroken(pieces: Pieces, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (pieces.isWhole && !signal.aborted) return;
      stop();
      signal.removeEventListener('abort', look);
      resolve();
    };
    const stop = pieces.listen(look);
    signal.addEventListener('abort', look);
    look();
  });
}
