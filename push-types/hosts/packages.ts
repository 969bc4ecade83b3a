import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { HOSTS_LIMITS } from '../../sdk';
import { explainError } from '../explainError';
import { fillVersion, isFileVersion, openPackage, SHA256_DIGEST } from '../packageSource';
import { inspectTar } from './tarEntries';

/** The packages of versions: fetched once, compared with their digest, looked through, and kept for the hosts. */

export interface PackageOptions {
  /** A path or an http URL with `{version}`. */
  readonly from: string;
  /** The folder of fetched packages. */
  readonly folder: string;
  readonly timeoutMs: number;
  /** The digests by version; the owner stores them. */
  readonly digests: Record<string, string>;
}

/** A package that may go to hosts. */
export interface CheckedPackage {
  readonly file: string;
  readonly digest: string;
}

/** The version has no package, no digest, or another one. */
export class PackageError extends Error {
  override readonly name = 'PackageError';
}

const MOST_DIGEST_FILE = 1024;

export class Packages {
  private readonly fetched = new Map<string, Promise<CheckedPackage>>();

  constructor(private readonly options: PackageOptions) {}

  /**
   * Remembers the digest of a version: that of its artifact, else that of the file `….sha256` beside the package.
   * @throws PackageError if there is none, or another one is known
   */
  async learn(version: string, given: string | undefined): Promise<void> {
    if (!isFileVersion(version)) throw new PackageError(`${JSON.stringify(version)} is no name for a folder`);
    if (given !== undefined && !SHA256_DIGEST.test(given))
      throw new PackageError(`the digest of ${version} is ${given}, not a sha256`);
    const known = this.options.digests[version];
    if (known !== undefined && given !== undefined && known !== given)
      throw new PackageError(`the package ${version} has the digest ${known}, and now ${given} is expected`);
    const digest = known ?? given ?? (await this.readDigest(version));
    this.keep(version, digest);
  }

  /** The digest of a version; undefined if `learn` never saw it. */
  digest(version: string): string | undefined {
    return this.options.digests[version];
  }

  /** The package of a version, fetched if it is not there yet. @throws PackageError */
  get(version: string): Promise<CheckedPackage> {
    const digest = this.options.digests[version];
    if (digest === undefined)
      return Promise.reject(new PackageError(`there is no package ${version} in ${this.options.from}`));
    const before = this.fetched.get(digest);
    const known = this.find(before).then((found) => found ?? this.fetch(version, digest));
    this.fetched.set(digest, known);
    // A failure is not a package: the next caller tries again.
    known.catch(() => this.fetched.delete(digest));
    return known;
  }

  /** A package that was fetched, unless its file was deleted since. */
  private async find(fetched: Promise<CheckedPackage> | undefined): Promise<CheckedPackage | undefined> {
    const found = await fetched;
    if (found === undefined || !existsSync(found.file)) return undefined;
    await touchFile(found.file);
    return found;
  }

  private keep(version: string, digest: string): void {
    const { digests } = this.options;
    delete digests[version];
    digests[version] = digest;
    for (const old of Object.keys(digests).slice(0, -HOSTS_LIMITS.packageVersions.max)) delete digests[old];
  }

  private async readDigest(version: string): Promise<string> {
    const place = `${this.locate(version)}.sha256`;
    const text = await this.readText(place);
    const digest = `sha256:${text.trim().split(/\s+/)[0] ?? ''}`;
    if (SHA256_DIGEST.test(digest)) return digest;
    throw new PackageError(`${place} has no sha256 of ${version}`);
  }

  private async readText(place: string): Promise<string> {
    try {
      let text = '';
      for await (const chunk of await openPackage(place, this.options.timeoutMs)) {
        text += String(chunk);
        if (text.length > MOST_DIGEST_FILE) break;
      }
      return text.slice(0, MOST_DIGEST_FILE);
    } catch (error) {
      throw new PackageError(`there is no digest at ${place}: ${explainError(error)}`);
    }
  }

  private async fetch(version: string, digest: string): Promise<CheckedPackage> {
    const { folder } = this.options;
    const file = join(folder, `${digest.slice('sha256:'.length)}.tar`);
    await mkdir(folder, { recursive: true });
    if (!existsSync(file)) await this.download(version, digest, file);
    await inspectFile(file).catch((error: unknown) => {
      throw new PackageError(`the package ${version} is refused: ${explainError(error)}`);
    });
    await touchFile(file);
    await this.prune();
    return { file, digest };
  }

  /** Deletes the files that were not used for longest: a disk that they fill keeps the memory from being written. */
  private async prune(): Promise<void> {
    const { folder } = this.options;
    const names = (await readdir(folder)).filter((name) => /^[0-9a-f]{64}\.tar$/.test(name));
    const files = await Promise.all(
      names.map(async (name) => ({ file: join(folder, name), usedAt: (await stat(join(folder, name))).mtimeMs })),
    );
    const old = files.sort((one, other) => other.usedAt - one.usedAt).slice(HOSTS_LIMITS.packagesKept.max);
    for (const { file } of old) await rm(file, { force: true });
  }

  private async download(version: string, digest: string, file: string): Promise<void> {
    const part = `${file}.part`;
    const hash = createHash('sha256');
    let size = 0;
    try {
      const target = await open(part, 'w', 0o600);
      await pipeline(
        await openPackage(this.locate(version), this.options.timeoutMs),
        async function* count(source: AsyncIterable<Buffer>) {
          for await (const chunk of source) {
            size += chunk.length;
            if (size > HOSTS_LIMITS.packageBytes.max)
              throw new Error(`it has more than ${HOSTS_LIMITS.packageBytes.max} bytes`);
            hash.update(chunk);
            yield chunk;
          }
        },
        target.createWriteStream(),
      );
      const have = `sha256:${hash.digest('hex')}`;
      if (have !== digest) throw new Error(`it has the digest ${have}, not ${digest}`);
      await rename(part, file);
    } catch (error) {
      await rm(part, { force: true });
      throw new PackageError(`the package ${version} cannot be fetched: ${explainError(error)}`);
    }
  }

  private locate(version: string): string {
    return fillVersion(this.options.from, version);
  }
}

const touchFile = async (file: string): Promise<void> => utimes(file, new Date(), new Date());

async function inspectFile(file: string): Promise<void> {
  const first = createReadStream(file, { end: 1 });
  const magic = Buffer.concat(await first.toArray());
  const inspector = inspectTar({ mostEntries: HOSTS_LIMITS.packageEntries.max });
  const source = createReadStream(file);
  const plain = magic[0] === 0x1f && magic[1] === 0x8b ? source.pipe(createGunzip()) : source;
  source.on('error', (error) => plain.destroy(error));
  for await (const chunk of plain) inspector.take(chunk as Buffer);
  inspector.end();
}
