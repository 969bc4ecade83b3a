import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GIT_COMMIT_LIMITS } from '../../sdk';
import { expandHome } from '../hosts/systemSsh';
import {
  AwayError,
  RefusedError,
  type DeployBranch,
  type BranchEdit,
  type FoundCommit,
  type FileState,
} from './branch';
import { explainGit, LOCAL_RECEIVER, runGit, type GitRunOptions } from './gitRun';
import type { BoundedResult } from './runBounded';
import type { RepositorySettings } from './settings';

/** All the settings of a copy: git would obey others. */
const COPY_SETTINGS = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n';
const TIP = 'refs/conveyor/tip';
const LOCAL_TIMEOUT_MS = 60_000;
const SIZE_LOOKS_MS = 500;
const MOST_CHANGES = 30;
/** The words of git, ssh and forges if a key, a token, a right, a repository or a branch is missing. */
const REFUSALS =
  /permission denied|authentication failed|could not read (username|password)|prompts disabled|host key verification failed|no .* host key is known|returned error: 40[0-9]|not found|does not (exist|appear to be)|couldn't find remote ref|access denied|not permitted|read[- ]only|transport '.*' not allowed/i;
const SILENCES =
  /could not (read from remote|resolve host)|unable to access|timed out|too slow|connection (refused|reset|closed)|hung up|early eof|unreachable|took too long|no route|returned error: 5\d\d|kex_exchange/i;

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
    const ran = first.code !== 0 && !this.isRemote(first) ? await this.startAgain() : first;
    if (ran.code !== 0) throw this.explainRemote(ran);
    if (this.copySize() > GIT_COMMIT_LIMITS.copy.max) rmSync(this.options.folder, { recursive: true, force: true });
    return this.local(['rev-parse', '--verify', `${TIP}^{commit}`]);
  }

  async read(revision: string, paths: readonly string[]): Promise<ReadonlyMap<string, FileState>> {
    const listed = await this.local(['ls-tree', '-z', '--full-tree', revision, '--', ...paths]);
    const entries = new Map(listed.split('\0').flatMap(parseEntry));
    const wanted = paths.flatMap((path) => entries.get(path) ?? []).filter(isFile);
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
      const entries = new Map(listed.split('\0').flatMap(parseEntry));
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
      'push',
      '--porcelain',
      '--no-verify',
      ...receiver,
      '--end-of-options',
      url,
      target,
    ]);
    if (ran.code === 0) return 'pushed';
    const [, why] = /^!\t[^\t]*\t(.*)$/m.exec(ran.output.toString('utf8')) ?? [];
    if (why === undefined) throw this.explainRemote(ran);
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
      if (this.copySize() > 2 * GIT_COMMIT_LIMITS.copy.max) ending.abort();
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

  private copySize(): number {
    const packs = join(this.options.folder, 'objects', 'pack');
    if (!existsSync(packs)) return 0;
    return readdirSync(packs).reduce(
      (sum, name) => sum + (statSync(join(packs, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
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

  private fileAt(path: string, entry: FileEntry | undefined): FileState {
    if (entry === undefined) return { trouble: `${path} is not in ${this.place}` };
    if (!isFile(entry)) return { trouble: `${path} is a link, a folder or a submodule: name the file itself` };
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
    const env = { GIT_SSH_COMMAND: buildSshCommand(settings), ...readAuthorization(settings, name), ...findAgent() };
    return runGit(folder, args, { timeoutMs: timeout, protocol, env, ...(signal && { signal }) });
  }

  private isRemote({ stderr, isCut }: BoundedResult): boolean {
    return isCut || REFUSALS.test(stderr) || SILENCES.test(stderr);
  }

  private explainRemote(ran: BoundedResult): Error {
    const why = explainGit(ran);
    if (REFUSALS.test(ran.stderr))
      return new RefusedError(
        `${this.place} cannot be used: ${why}; compare its url, branch, key or token in the settings, and their rights`,
      );
    return new AwayError(`${this.place} does not answer: ${why}`);
  }
}

const COMMIT_ID = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
/** Flux shortens the commit of a chart to twelve digits. */
const REVISION = /^[0-9a-f]{12,64}$/;
const MOST_TEXTS = 2_000;

interface FileEntry {
  readonly mode: string;
  readonly id: string;
}

function parseEntry(line: string): [string, FileEntry][] {
  const [, mode = '', id = '', path = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
  return path === '' ? [] : [[path, { mode, id }]];
}

/** A plain file, executable or not. */
const isFile = ({ mode }: FileEntry): boolean => mode.startsWith('100');

/** Only the key and the host keys of the settings count, and no configuration of the user. The paths have no spaces and no quotes. */
function buildSshCommand({ key, knownHosts }: RepositorySettings): string {
  const identity = key === undefined ? [] : ['IdentitiesOnly=yes', `IdentityFile=${expandHome(key)}`];
  const options = [
    ...['BatchMode=yes', 'StrictHostKeyChecking=yes', `UserKnownHostsFile=${expandHome(knownHosts)}`],
    ...['GlobalKnownHostsFile=/dev/null', 'UpdateHostKeys=no', 'ForwardAgent=no', 'PermitLocalCommand=no'],
    ...['ConnectTimeout=10', 'ServerAliveInterval=10', 'ServerAliveCountMax=3', ...identity],
  ];
  return ['ssh', '-F', '/dev/null', ...options.flatMap((option) => ['-o', option])].join(' ');
}

function findAgent(): Record<string, string> {
  const { SSH_AUTH_SOCK } = process.env;
  return SSH_AUTH_SOCK === undefined ? {} : { SSH_AUTH_SOCK };
}

/** The token goes by the environment, since every user of the machine can read command lines. @throws RefusedError if its file cannot be read */
function readAuthorization({ token, user, url }: RepositorySettings, name: string): Record<string, string> {
  if (token === undefined) return {};
  try {
    const secret = readFileSync(expandHome(token), 'utf8').trim();
    const value = `Authorization: Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`;
    return { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: `http.${url}.extraHeader`, GIT_CONFIG_VALUE_0: value };
  } catch {
    throw new RefusedError(`the file with the token of ${name} cannot be read: ${token}`);
  }
}
