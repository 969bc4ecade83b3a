import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GIT_COMMIT_LIMITS } from '../../sdk';
import { explainRemote, isRemoteTrouble, openAccess } from './gitAccess';
import { explainGit, runGit, type GitRunOptions } from './gitRun';
import type { BoundedResult } from './runBounded';
import type { RepositorySettings } from './settings';

/** All the settings of a copy: git would obey others. */
const COPY_SETTINGS = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n';
const TIP = 'refs/conveyor/tip';
const LOCAL_TIMEOUT_MS = 60_000;
const SIZE_LOOKS_MS = 500;

export interface GitCopyOptions {
  /** The name of the repository in the settings. */
  readonly name: string;
  readonly settings: RepositorySettings;
  /** The folder of the copy. */
  readonly folder: string;
}

/** The bare copy of a branch on this machine, which may be removed at any time, and the way to its remote repository. */
export class GitCopy {
  constructor(private readonly options: GitCopyOptions) {}

  /** In words, for messages. */
  get place(): string {
    const { name, settings } = this.options;
    return `the branch ${settings.branch} of ${name}`;
  }

  /** Fetches the branch, and returns its newest commit. @throws AwayError, RefusedError */
  async refresh(): Promise<string> {
    const first = await this.fetch();
    const ran = first.code !== 0 && !isRemoteTrouble(first) ? await this.startAgain() : first;
    if (ran.code !== 0) throw explainRemote(ran, this.place);
    if (measureCopy(this.options.folder) > GIT_COMMIT_LIMITS.copy.max)
      rmSync(this.options.folder, { recursive: true, force: true });
    return this.local(['rev-parse', '--verify', `${TIP}^{commit}`]);
  }

  /** The output without the line end. @throws Error if git fails */
  async local(args: readonly string[], options: Partial<GitRunOptions> = {}): Promise<string> {
    const ran = await this.run(args, options);
    if (ran.code !== 0) throw new Error(`${this.place}: git ${args[0] ?? ''}: ${explainGit(ran)}`);
    return ran.output.toString('utf8').replace(/\n$/, '');
  }

  run(args: readonly string[], options: Partial<GitRunOptions> = {}): Promise<BoundedResult> {
    return runGit(this.options.folder, args, { timeoutMs: LOCAL_TIMEOUT_MS, ...options });
  }

  /** Runs git with the access to the remote repository. */
  connect(args: readonly string[], signal?: AbortSignal): Promise<BoundedResult> {
    const { settings, folder, name } = this.options;
    const { timeout, url } = settings;
    const protocol = url.slice(0, url.indexOf(':'));
    const env = openAccess(settings, name);
    return runGit(folder, args, { timeoutMs: timeout, protocol, env, ...(signal && { signal }) });
  }

  /** The copy of before may be damaged, for example by a git command that was killed: it has nothing that the remote repository lacks. */
  private startAgain(): Promise<BoundedResult> {
    rmSync(this.options.folder, { recursive: true, force: true });
    return this.fetch();
  }

  private async fetch(): Promise<BoundedResult> {
    const { folder, settings } = this.options;
    await this.openCopy();
    const isNew = !existsSync(join(folder, TIP)) && !existsSync(join(folder, 'packed-refs'));
    const ending = new AbortController();
    const watch = setInterval(() => {
      if (measureCopy(this.options.folder) > 2 * GIT_COMMIT_LIMITS.copy.max) ending.abort();
    }, SIZE_LOOKS_MS);
    try {
      const depth = isNew ? [`--depth=${GIT_COMMIT_LIMITS.history.max}`] : [];
      return await this.connect(
        [
          ...['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', ...depth],
          ...['--end-of-options', settings.url, `+refs/heads/${settings.branch}:${TIP}`],
        ],
        ending.signal,
      );
    } finally {
      clearInterval(watch);
    }
  }

  private async openCopy(): Promise<void> {
    const { folder } = this.options;
    const config = join(folder, 'config');
    if (!existsSync(join(folder, 'HEAD'))) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await this.local(['init', '--quiet', '--bare', '--template=', folder]);
    }
    if (!existsSync(config) || readFileSync(config, 'utf8') !== COPY_SETTINGS) writeFileSync(config, COPY_SETTINGS);
  }
}

/** The packs of a copy, in bytes. */
function measureCopy(folder: string): number {
  const packs = join(folder, 'objects', 'pack');
  if (!existsSync(packs)) return 0;
  return readdirSync(packs).reduce(
    (sum, name) => sum + (statSync(join(packs, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
