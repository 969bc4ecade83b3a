import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { GIT_COMMIT_LIMITS } from '../../sdk';
import { RefusedError, type DeployBranch, type BranchEdit, type FoundCommit, type FileState } from './branch';
import { explainRemote } from './gitAccess';
import { GitCopy, type GitCopyOptions } from './gitCopy';
import { explainGit, LOCAL_RECEIVER } from './gitRun';
import { isPlainFile, parseTree, type TreeEntry } from './treeEntries';

const MOST_CHANGES = 30;

/** A branch of a remote repository: its files, its commits, and new ones. */
export class GitBranch implements DeployBranch {
  /** The text of each blob that was read last, by its id. */
  private texts = new Map<string, string>();

  private readonly copy: GitCopy;

  constructor(private readonly options: GitCopyOptions) {
    this.copy = new GitCopy(options);
  }

  refresh(): Promise<string> {
    return this.copy.refresh();
  }

  async read(revision: string, paths: readonly string[]): Promise<ReadonlyMap<string, FileState>> {
    const listed = await this.copy.local(['ls-tree', '-z', '--full-tree', revision, '--', ...paths]);
    const entries = parseTree(listed);
    const wanted = paths.flatMap((path) => entries.get(path) ?? []).filter(isPlainFile);
    await this.readBlobs(wanted.map(({ id }) => id));
    return new Map(paths.map((path) => [path, this.fileAt(path, entries.get(path))]));
  }

  async relate(revision: string, commit: string): Promise<'holds' | 'lacks' | 'unknown'> {
    if (!REVISION.test(revision) || !REVISION.test(commit)) return 'unknown';
    if (commit.startsWith(revision)) return 'holds';
    const { code } = await this.copy.run(['merge-base', '--is-ancestor', commit, revision]);
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
      await this.copy.local(['read-tree', base], { env });
      const listed = await this.copy.local(['ls-tree', '-z', '--full-tree', base, '--', ...files.keys()]);
      const entries = parseTree(listed);
      let lines = '';
      for (const [path, text] of files) {
        const blob = await this.copy.local(['hash-object', '-w', '--stdin'], { input: text });
        lines += `${entries.get(path)?.mode ?? '100644'} ${blob}\t${path}\0`;
      }
      await this.copy.local(['update-index', '-z', '--index-info'], { env, input: lines });
      const tree = await this.copy.local(['write-tree'], { env });
      return await this.copy.local(['commit-tree', tree, '-p', base, '-F', '-'], {
        env: this.signAs(at),
        input: message,
      });
    } finally {
      rmSync(index, { force: true });
      rmSync(`${index}.lock`, { force: true });
    }
  }

  async push(commit: string): Promise<'pushed' | 'stale'> {
    const { url, branch } = this.options.settings;
    const receiver = url.startsWith('file:') ? [`--receive-pack=${LOCAL_RECEIVER}`] : [];
    const target = `${commit}:refs/heads/${branch}`;
    const ran = await this.copy.connect([
      ...['push', '--porcelain', '--no-verify', ...receiver],
      ...['--end-of-options', url, target],
    ]);
    if (ran.code === 0) return 'pushed';
    const [, why] = /^!\t[^\t]*\t(.*)$/m.exec(ran.output.toString('utf8')) ?? [];
    if (why === undefined) throw explainRemote(ran, this.copy.place);
    if (/fetch first|non-fast-forward|stale info|cannot lock ref|failed to update ref|incorrect old value/.test(why))
      return 'stale';
    const words = ran.stderr.split('\n').flatMap((line) => /^remote: (.*\S)\s*$/.exec(line)?.[1] ?? []);
    throw new RefusedError(
      `${this.copy.place} refuses the push: ${[why, ...words].join(' ').slice(0, 400)}; let the key push to this branch, or choose a branch without protection`,
    );
  }

  private async readBlobs(ids: readonly string[]): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => !this.texts.has(id));
    if (missing.length === 0) return;
    const { output, code, stderr, isCut } = await this.copy.run(['cat-file', '--batch'], {
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
    if (entry === undefined) return { trouble: `${path} is not in ${this.copy.place}` };
    if (!isPlainFile(entry)) return { trouble: `${path} is a link, a folder or a submodule: name the file itself` };
    return { text: this.texts.get(entry.id) ?? '' };
  }

  private async log(args: readonly string[]): Promise<readonly FoundCommit[]> {
    const text = await this.copy.local(['log', '-z', '--format=%H%n%P%n%an%n%B', ...args]);
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
}

const COMMIT_ID = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
/** Flux shortens the commit of a chart to twelve digits. */
const REVISION = /^[0-9a-f]{12,64}$/;
const MOST_TEXTS = 2_000;
