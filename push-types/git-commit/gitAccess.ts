import { readFileSync } from 'node:fs';
import { expandHome } from '../hosts/systemSsh';
import { AwayError, RefusedError } from './branch';
import { explainGit } from './gitRun';
import type { BoundedResult } from './runBounded';
import type { RepositorySettings } from './settings';

/** How git reaches a remote repository, and why it does not. */

/** The words of git, ssh and forges if a key, a token, a right, a repository or a branch is missing. */
const REFUSALS =
  /permission denied|authentication failed|could not read (username|password)|prompts disabled|host key verification failed|no .* host key is known|returned error: 40[0-9]|not found|does not (exist|appear to be)|couldn't find remote ref|access denied|not permitted|read[- ]only|transport '.*' not allowed/i;
const SILENCES =
  /could not (read from remote|resolve host)|unable to access|timed out|too slow|connection (refused|reset|closed)|hung up|early eof|unreachable|took too long|no route|returned error: 5\d\d|kex_exchange/i;

/** The environment with which git reaches the repository of this name. @throws RefusedError if the file with the token cannot be read */
export const openAccess = (settings: RepositorySettings, name: string): Readonly<Record<string, string>> => ({
  GIT_SSH_COMMAND: buildSshCommand(settings),
  ...readAuthorization(settings, name),
  ...findAgent(),
});

/** Whether the remote repository is at fault, and not the copy. */
export const isRemoteTrouble = ({ stderr, isCut }: BoundedResult): boolean =>
  isCut || REFUSALS.test(stderr) || SILENCES.test(stderr);

/** The error for a command that has failed at the remote repository: RefusedError if a person has to act, else AwayError. */
export function explainRemote(ran: BoundedResult, place: string): Error {
  const why = explainGit(ran);
  if (REFUSALS.test(ran.stderr))
    return new RefusedError(
      `${place} cannot be used: ${why}; compare its url, branch, key or token in the settings, and their rights`,
    );
  return new AwayError(`${place} does not answer: ${why}`);
}

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

/** The token goes by the environment, since every user of the machine can read command lines. */
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
