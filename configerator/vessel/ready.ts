import { isSha256Digest, isPackagePath } from '../domain/vessel/package';
import { Loop } from '../proxy/loop';
import type { PieceDisk } from './disk';

interface Lives {
  readonly version: string;
  readonly digest: string;
}

const FILE = 'ready.json';

/**
 * By path, the version that applications of this host use. It survives a kill of the proxy, so that the host does not seem to load the version again.
 */
export class ReadyVersions {
  private readonly all = new Map<string, Lives>();
  private isDue = false;
  private readonly writing = new Loop(
    () => this.isDue,
    async () => {
      this.isDue = false;
      await this.disk.write(FILE, JSON.stringify(Object.fromEntries(this.all)));
    },
    (error) => this.log(`what applications have loaded is not on the disk: ${(error as Error).message}`),
  );

  constructor(
    private readonly disk: PieceDisk,
    private readonly log: (line: string) => void,
  ) {}

  async load(): Promise<void> {
    const text = await this.disk.read(FILE).catch(() => '{}');
    try {
      for (const [path, { version, digest }] of Object.entries(JSON.parse(text) as Readonly<Record<string, Lives>>))
        if (isPackagePath(path) && isSha256Digest(digest)) this.all.set(path, { version, digest });
    } catch (error) {
      this.log(`${FILE} is left out: ${(error as Error).message}`);
    }
  }

  find = (path: string): string | undefined => this.all.get(path)?.version;

  /** Whether applications (those of the path, or any) use that digest. */
  has(digest: string, path: string | null): boolean {
    if (path !== null) return this.all.get(path)?.digest === digest;
    return [...this.all.values()].some((one) => one.digest === digest);
  }

  put(path: string, lives: Lives): void {
    this.all.set(path, lives);
    this.isDue = true;
    this.writing.wake();
  }
}
