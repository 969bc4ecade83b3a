import { createHash } from 'node:crypto';
import { SLOWROLL_LIMITS } from '../../../sdk';
import { explainError } from '../../explainError';
import { fillVersion, isFileVersion, isRemote, openPackage, SHA256_DIGEST } from '../../packageSource';
import type { KnownPackage } from './decisions';

/** The packages of versions: their digest and size are read once, and hold for ever. */

export interface PackageSource {
  readonly name: string;
  /** A path, or an http URL, with `{version}`. */
  readonly from: string;
}

export interface PackageStoreOptions {
  readonly packages: readonly PackageSource[];
  readonly timeoutMs: number;
  /** By package and version; the owner stores them. */
  readonly known: Record<string, Record<string, KnownPackage>>;
}

/** The version has no package, or another one than before. */
export class PackageTroubleError extends Error {
  override readonly name = 'PackageTroubleError';
}

const PACKAGE_PATH = 'v1/packages';

export class PackageStore {
  constructor(private readonly options: PackageStoreOptions) {}

  find(packageName: string, version: string): KnownPackage | undefined {
    return this.options.known[packageName]?.[version];
  }

  /**
   * Reads a package whose version is new, and remembers its digest. If the release names a digest, the package has to have it.
   * @throws PackageTroubleError
   */
  async learn(packageName: string, version: string, given: string | undefined): Promise<void> {
    if (!isFileVersion(version))
      throw new PackageTroubleError(`${JSON.stringify(version)} is no name for a package file`);
    if (given !== undefined && !SHA256_DIGEST.test(given))
      throw new PackageTroubleError(`the digest of ${version} is ${given}, not a sha256`);
    const found = this.find(packageName, version) ?? (await this.measure(packageName, version));
    if (given !== undefined && found.digest !== given)
      throw new PackageTroubleError(`the package ${version} has the digest ${found.digest}, and ${given} is expected`);
    (this.options.known[packageName] ??= {})[version] = found;
  }

  /** The file of a package by its digest; undefined if it has none here. */
  locateFile(packageName: string, digest: string): { readonly file: string; readonly size: number } | undefined {
    const found = Object.entries(this.options.known[packageName] ?? {}).find(([, one]) => one.digest === digest);
    const from = this.options.packages.find(({ name }) => name === packageName)?.from;
    if (found === undefined || from === undefined || isRemote(from)) return undefined;
    return { file: fillVersion(from, found[0]), size: found[1].size };
  }

  private async measure(packageName: string, version: string): Promise<KnownPackage> {
    const from = this.options.packages.find(({ name }) => name === packageName)?.from;
    if (from === undefined) throw new PackageTroubleError(`there is no package ${packageName} in the settings`);
    const place = fillVersion(from, version);
    const hash = createHash('sha256');
    let size = 0;
    try {
      for await (const chunk of await openPackage(place, this.options.timeoutMs)) {
        size += (chunk as Buffer).length;
        if (size > SLOWROLL_LIMITS.packageBytes.max)
          throw new Error(`it has more than ${SLOWROLL_LIMITS.packageBytes.max} bytes`);
        hash.update(chunk as Buffer);
      }
    } catch (error) {
      throw new PackageTroubleError(`there is no package ${version} at ${place}: ${explainError(error)}`);
    }
    const digest = `sha256:${hash.digest('hex')}`;
    const uri = isRemote(from) ? place : `${PACKAGE_PATH}/${packageName}/${digest.slice('sha256:'.length)}`;
    return { uri, digest, size };
  }
}
