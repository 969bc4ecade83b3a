import { runBounded, type BoundedOptions, type BoundedResult } from './runBounded';

/** Runs git on untrusted repositories: it obeys no configuration, runs no hook and no program of a repository, and never prompts. */

export interface GitRunOptions extends Omit<BoundedOptions, 'env' | 'mostBytes'> {
  readonly mostBytes?: number;
  /** The protocol through which this command may open a connection. By default none. */
  readonly protocol?: string;
  /** In addition to the environment of all commands. */
  readonly env?: Readonly<Record<string, string>>;
}

const MOST_OUTPUT = 64 * 1024 * 1024;

/** Each of these settings could run a program that a repository names; values here win over those of the repository. */
const OBEYS_NO_PROGRAM = [
  ...['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.alternateRefsCommand=true', 'core.gitProxy='],
  ...['core.attributesFile=/dev/null', 'core.pager=cat', 'core.askPass=', 'credential.helper='],
  ...['log.showSignature=false', 'commit.gpgSign=false', 'push.gpgSign=false', 'submodule.recurse=false'],
  ...['gc.auto=0', 'maintenance.auto=false', 'receive.autogc=false'],
].flatMap((setting) => ['-c', setting]);

/** Limits for a server that accepts a connection and sends nothing; no redirection carries a token elsewhere. */
const NETWORK = [
  ...['http.lowSpeedLimit=1', 'http.lowSpeedTime=30', 'http.followRedirects=false'],
  ...['core.quotePath=false', 'transfer.fsckObjects=false'],
].flatMap((setting) => ['-c', setting]);

/** The receiving side of a push to a repository on this machine; by default it would run the hooks of that repository as this user. */
export const LOCAL_RECEIVER = `git ${OBEYS_NO_PROGRAM.join(' ')} receive-pack`;

/**
 * Runs git by its list of arguments; any exit code is an answer. Its process group is killed after `timeoutMs`.
 * @throws Error if git cannot be started
 */
export function runGit(directory: string, args: readonly string[], options: GitRunOptions): Promise<BoundedResult> {
  const { protocol = '', env = {}, ...bounds } = options;
  return runBounded('git', [...OBEYS_NO_PROGRAM, ...NETWORK, '--git-dir', directory, ...args], {
    ...bounds,
    mostBytes: bounds.mostBytes ?? MOST_OUTPUT,
    env: { ...listEnvironment(), GIT_ALLOW_PROTOCOL: protocol, ...env },
  });
}

function listEnvironment(): NodeJS.ProcessEnv {
  const { PATH } = process.env;
  return {
    ...(PATH === undefined ? {} : { PATH }),
    ...{ HOME: '/nonexistent', LC_ALL: 'C', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    ...{ GIT_ATTR_NOSYSTEM: '1', GIT_ASKPASS: '', SSH_ASKPASS: '', GIT_TERMINAL_PROMPT: '0' },
    ...{ GIT_NO_REPLACE_OBJECTS: '1', GIT_NO_LAZY_FETCH: '1', GIT_SSH_COMMAND: 'false' },
  };
}

/** The first line that says why a git command failed. */
export function explainGit({ stderr, isCut }: BoundedResult): string {
  if (isCut) return 'it took too long or was too large';
  const lines = stderr.split('\n').flatMap((line) => line.trim() || []);
  const fatal = lines.find((line) => /^(fatal|error): /.test(line));
  // If a connection failed, ssh says why, and git only that it did.
  const isBySsh = /could not read from remote repository/i.test(fatal ?? '');
  const found =
    (isBySsh ? lines.find((line) => !/^(fatal|error|warning): /i.test(line)) : fatal) ?? lines.at(-1) ?? 'git failed';
  return hideSecrets(found.replace(/^(fatal|error): /, '')).slice(0, 300);
}

const hideSecrets = (text: string): string => text.replaceAll(/(\/\/)[^/@\s]+@/g, '$1');
