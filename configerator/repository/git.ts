import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { conveyorError } from '../../domain/errors';
import { replaceFileSync } from '../../sdk/replaceFile';

/** The result of a git command. */
interface Ran {
  readonly code: number;
  readonly out: Buffer;
  readonly err: string;
}

/** A hanging server must not block the landing queue. */
const TIMEOUT_MS = 120_000;
/** More than any answer that we need; file contents have separate limits. */
const MAX_OUTPUT = 256 * 1024 * 1024;

/** Each of these settings could run a program named by a repository. Values here take precedence over the repository's own. */
const NO_PROGRAMS = [
  ...['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.alternateRefsCommand=true', 'core.gitProxy='],
  ...['core.attributesFile=/dev/null', 'core.pager=cat', 'core.askPass=', 'credential.helper='],
  ...['log.showSignature=false', 'commit.gpgSign=false', 'push.gpgSign=false'],
  ...['gc.auto=0', 'maintenance.auto=false', 'receive.autogc=false', 'submodule.recurse=false'],
].flatMap((setting) => ['-c', setting]);

const SETTINGS = [
  // Limits for a server that accepts a connection but sends nothing.
  ...['http.lowSpeedLimit=1', 'http.lowSpeedTime=30'],
  ...['core.quotePath=false', 'fastimport.unpackLimit=1000'],
].flatMap((setting) => ['-c', setting]);

/** The receiving side of a push to a repository on this machine. By default it would run the repository's hooks as this user. */
export const RECEIVE_HERE = `git ${NO_PROGRAMS.join(' ')} receive-pack`;

/** The protocols through which Git may open a connection; for any other name, Git would run a program of that name. */
const PROTOCOLS = 'file:git:http:https:ssh';

/** All the settings of a copy. Git would obey others, such as a program that reaches a repository. */
const OWN_SETTINGS = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n';

/** The `git` binary, on one repository, called only with argument arrays. */
export class Git {
  constructor(
    readonly directory: string,
    /** Its name in errors. */
    readonly repository: string,
    private readonly timeoutMs: number = TIMEOUT_MS,
  ) {}

  /**
   * Creates or opens the repository; from then on it has only our settings.
   * @throws ConveyorError `config-repository-unusable`, `config-repository-unreachable`
   */
  async init(branch = 'main'): Promise<void> {
    const config = join(this.directory, 'config');
    if (!existsSync(join(this.directory, 'HEAD')))
      await this.text(['init', '--quiet', '--bare', '--template=', `--initial-branch=${branch}`, this.directory]);
    // Another process may be creating it.
    if (existsSync(config) && readFileSync(config, 'utf8') === OWN_SETTINGS) return;
    // Other processes may be reading it.
    replaceFileSync(config, OWN_SETTINGS, { mode: 0o644 });
  }

  /**
   * Runs a command and returns its output. @throws ConveyorError `config-repository-unusable`,
   * `config-repository-unreachable`
   */
  async text(args: readonly string[], input?: string | Buffer): Promise<string> {
    return (await this.bytes(args, input)).toString('utf8');
  }

  async bytes(args: readonly string[], input?: string | Buffer): Promise<Buffer> {
    const ran = await this.run(args, input);
    if (ran.code === 0) return ran.out;
    throw this.failure(args, ran.err);
  }

  /** Runs a command and accepts any exit code. It contacts no other repository, even for missing objects. */
  run(args: readonly string[], input: string | Buffer = ''): Promise<Ran> {
    return this.start(args, input, '');
  }

  /** The same, for a command that contacts another repository. */
  exchange(args: readonly string[]): Promise<Ran> {
    return this.start(args, '', PROTOCOLS);
  }

  private start(args: readonly string[], input: string | Buffer, protocols: string): Promise<Ran> {
    return new Promise((resolve, reject) => {
      const child = spawn('git', [...NO_PROGRAMS, ...SETTINGS, '--git-dir', this.directory, ...args], {
        cwd: '/',
        env: { ...environment(), GIT_ALLOW_PROTOCOL: protocols },
        stdio: ['pipe', 'pipe', 'pipe'],
        // It has its own process group, because programs that git starts for a connection would outlive it and keep its
        // output open.
        detached: true,
      });
      const end = (): void => killGroup(child.pid);
      const out: Buffer[] = [];
      let size = 0;
      let err = '';
      const timer = setTimeout(end, this.timeoutMs);
      child.stdout.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_OUTPUT) end();
        else out.push(chunk);
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => void (err = (err + text).slice(-4_000)));
      // It may have ended before it read all input.
      child.stdin.on('error', () => undefined);
      child.on('error', (error) => {
        clearTimeout(timer);
        reject(this.unstarted(error));
      });
      child.on('close', (code, signal) => {
        clearTimeout(timer);
        // A process with too much output may have ended by itself before the kill.
        const isCut = signal !== null || size > MAX_OUTPUT;
        const cut = `git ${args[0] ?? ''} was ended by ${signal ?? 'us'}, after ${this.timeoutMs / 1_000}s or ${MAX_OUTPUT} bytes`;
        resolve(
          isCut ? { code: 128, out: Buffer.alloc(0), err: cut } : { code: code ?? 128, out: Buffer.concat(out), err },
        );
      });
      child.stdin.end(input);
    });
  }

  failure(args: readonly string[], err: string): Error {
    const detail = lastWords(err) || `git ${args[0] ?? ''} failed`;
    const isAway =
      /could not (read from remote|resolve host)|unable to access|timed out|too slow|connection (refused|reset)|was ended by/i.test(
        err,
      );
    return conveyorError(isAway ? 'config-repository-unreachable' : 'config-repository-unusable', {
      repository: this.repository,
      detail,
    });
  }

  /** This machine may lack git, but another one may have it. */
  private unstarted({ message }: Error): Error {
    return conveyorError('config-repository-unreachable', {
      repository: this.repository,
      detail: `git cannot be started: ${message}`,
    });
  }
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function environment(): NodeJS.ProcessEnv {
  const { PATH, SSH_AUTH_SOCK } = process.env;
  return {
    ...(PATH === undefined ? {} : { PATH }),
    ...(SSH_AUTH_SOCK === undefined ? {} : { SSH_AUTH_SOCK }),
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_ASKPASS: '',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_SSH_COMMAND: 'ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=10',
  };
}

function lastWords(err: string): string {
  const lines = err.split('\n').map((line) => line.trim());
  const found = lines.find((line) => /^(fatal|error):/.test(line)) ?? lines.findLast((line) => line !== '') ?? '';
  return found.replace(/^(fatal|error): /, '').slice(0, 300);
}
