import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GIT_COMMIT_LIMITS } from '../../sdk';
import { RefusedError, type DeployBranch, type BranchEdit, type FoundCommit, type FileState } from './branch';
import { explainRemote, isRemoteTrouble, openAccess } from './gitAccess';
import { explainGit, LOCAL_RECEIVER, runGit, type GitRunOptions } from './gitRun';
import type { BoundedResult } from './runBounded';
import type { RepositorySettings } from './settings';
import { isPlainFile, parseTree, type TreeEntry } from './treeEntries';

/** All the settings of a copy: git would obey others. */
const COPY_SETTINGS = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n';
const TIP = 'refs/conveyor/tip';
const LOCAL_TIMEOUT_MS = 60_000;
const SIZE_LOOKS_MS = 500;
const MOST_CHANGES = 30;

export interface GitBranchOptions {
  /** The name of the repository in the settings. */
  readonly name: string;
  readonly settings: RepositorySettings;
  /** The folder of the copy. */
  readonly folder: string;
}

/** A branch of a remote repository with a bare copy on this machine, which may be removed at any time. */
export class GitBranch implements DeployBranch {
  /** The text of each blob that was read last, by its id. */
  private texts = new Map<string, string>();

  constructor(private readonly options: GitBranchOptions) {}

  async refresh(): Promise<string> {
    const first = await this.fetch();
    const ran = first.code !== 0 && !isRemoteTrouble(first) ? await this.startAgain() : first;
    if (ran.code !== 0) throw explainRemote(ran, this.place);
    if (measureCopy(this.options.folder) > GIT_COMMIT_LIMITS.copy.max)
      rmSync(this.options.folder, { recursive: true, force: true });
    return this.local(['rev-parse', '--verify', `${TIP}^{commit}`]);
  }

  async read(revision: string, paths: readonly string[]): Promise<ReadonlyMap<string, FileState>> {
    const listed = await this.local(['ls-tree', '-z', '--full-tree', revision, '--', ...paths]);
    const entries = parseTree(listed);
    const wanted = paths.flatMap((path) => entries.get(path) ?? []).filter(isPlainFile);
    await this.readBlobs(wanted.map(({ id }) => id));
    return new Map(paths.map((path) => [path, this.fileAt(path, entries.get(path))]));
  }

  async relate(revision: string, commit: string): Promise<'holds' | 'lacks' | 'unknown'> {
    if (!REVISION.test(revision) || !REVISION.test(commit)) return 'unknown';
    if (commit.startsWith(revision)) return 'holds';
    const { code } = await this.run(['merge-base', '--is-ancestor', commit, revision]);
    return code === 0 ? 'holds' : code === 1 ? 'lacks' : 'unknown';
  }

  async findCommits(tip: string, line: string): Promise<readonly FoundCommit[]> {
    const found = await this.log([
      `--max-count=${GIT_COMMIT_LIMITS.history.max}`,
      '--fixed-strings',
      `--grep=${line}`,
      tip,
    ]);
    return found.filter(({ message }) => message.split('\n').includes(line));
  }

  listChanges(tip: string, path: string): Promise<readonly FoundCommit[]> {
    return this.log([`--max-count=${MOST_CHANGES}`, '--full-history', tip, '--', path]);
  }

  async commit({ base, files, message, at }: BranchEdit): Promise<string> {
    const index = join(this.options.folder, `index.${randomUUID()}`);
    const env = { GIT_INDEX_FILE: index };
    try {
      await this.local(['read-tree', base], { env });
      const listed = await this.local(['ls-tree', '-z', '--full-tree', base, '--', ...files.keys()]);
      const entries = parseTree(listed);
      let lines = '';
      for (const [path, text] of files) {
        const blob = await this.local(['hash-object', '-w', '--stdin'], { input: text });
        lines += `${entries.get(path)?.mode ?? '100644'} ${blob}\t${path}\0`;
      }
      await this.local(['update-index', '-z', '--index-info'], { env, input: lines });
      const tree = await this.local(['write-tree'], { env });
      return await this.local(['commit-tree', tree, '-p', base, '-F', '-'], { env: this.signAs(at), input: message });
    } finally {
      rmSync(index, { force: true });
      rmSync(`${index}.lock`, { force: true });
    }
  }

  async push(commit: string): Promise<'pushed' | 'stale'> {
    const { url, branch } = this.options.settings;
    const receiver = url.startsWith('file:') ? [`--receive-pack=${LOCAL_RECEIVER}`] : [];
    const target = `${commit}:refs/heads/${branch}`;
    const ran = await this.connect([
      ...['push', '--porcelain', '--no-verify', ...receiver],
      ...['--end-of-options', url, target],
    ]);
    if (ran.code === 0) return 'pushed';
    const [, why] = /^!\t[^\t]*\t(.*)$/m.exec(ran.output.toString('utf8')) ?? [];
    if (why === undefined) throw explainRemote(ran, this.place);
    if (/fetch first|non-fast-forward|stale info|cannot lock ref|failed to update ref|incorrect old value/.test(why))
      return 'stale';
    const words = ran.stderr.split('\n').flatMap((line) => /^remote: (.*\S)\s*$/.exec(line)?.[1] ?? []);
    throw new RefusedError(
      `${this.place} refuses the push: ${[why, ...words].join(' ').slice(0, 400)}; let the key push to this branch, or choose a branch without protection`,
    );
  }

  private get place(): string {
    const { name, settings } = this.options;
    return `the branch ${settings.branch} of ${name}`;
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

  private async readBlobs(ids: readonly string[]): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => !this.texts.has(id));
    if (missing.length === 0) return;
    const { output, code, stderr, isCut } = await this.run(['cat-file', '--batch'], {
      input: `${missing.join('\n')}\n`,
    });
    if (code !== 0) throw new Error(explainGit({ code, output, stderr, isCut }));
    if (this.texts.size > MOST_TEXTS) this.texts = new Map();
    for (let at = 0; at < output.length;) {
      const end = output.indexOf(10, at);
      const [id = '', , size = '0'] = output.toString('utf8', at, end).split(' ');
      this.texts.set(id, output.toString('utf8', end + 1, end + 1 + Number(size)));
      at = end + 1 + Number(size) + 1;
    }
  }

  private fileAt(path: string, entry: TreeEntry | undefined): FileState {
    if (entry === undefined) return { trouble: `${path} is not in ${this.place}` };
    if (!isPlainFile(entry)) return { trouble: `${path} is a link, a folder or a submodule: name the file itself` };
    return { text: this.texts.get(entry.id) ?? '' };
  }

  private async log(args: readonly string[]): Promise<readonly FoundCommit[]> {
    const text = await this.local(['log', '-z', '--format=%H%n%P%n%an%n%B', ...args]);
    return text.split('\0').flatMap((record) => {
      const [id = '', parents = '', author = '', ...lines] = record.split('\n');
      return COMMIT_ID.test(id)
        ? [{ id, parent: parents.split(' ')[0] || undefined, author, message: lines.join('\n') }]
        : [];
    });
  }

  private signAs(at: number): Record<string, string> {
    const { name, email } = this.options.settings.committer;
    const date = `${Math.floor(at / 1000)} +0000`;
    return {
      ...{ GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date },
      ...{ GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email, GIT_COMMITTER_DATE: date },
    };
  }

  /** The output without the line end. @throws Error if git fails */
  private async local(args: readonly string[], options: Partial<GitRunOptions> = {}): Promise<string> {
    const ran = await this.run(args, options);
    if (ran.code !== 0) throw new Error(`${this.place}: git ${args[0] ?? ''}: ${explainGit(ran)}`);
    return ran.output.toString('utf8').replace(/\n$/, '');
  }

  private run(args: readonly string[], options: Partial<GitRunOptions> = {}): Promise<BoundedResult> {
    return runGit(this.options.folder, args, { timeoutMs: LOCAL_TIMEOUT_MS, ...options });
  }

  private connect(args: readonly string[], signal?: AbortSignal): Promise<BoundedResult> {
    const { settings, folder, name } = this.options;
    const { timeout, url } = settings;
    const protocol = url.slice(0, url.indexOf(':'));
    const env = openAccess(settings, name);
    return runGit(folder, args, { timeoutMs: timeout, protocol, env, ...(signal && { signal }) });
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

const COMMIT_ID = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
/** Flux shortens the commit of a chart to twelve digits. */
const REVISION = /^[0-9a-f]{12,64}$/;
const MOST_TEXTS = 2_000;
