import { homedir } from 'node:os';
import { join } from 'node:path';
import { concurrencyGate, type ConcurrencyGate } from '../../sdk';
import type { Host } from './inventory';
import {
  quoteArguments,
  explainRefusedUpload,
  receiveCommand,
  UnreachableHostError,
  type HostPort,
  type CommandOptions,
  type RunResult,
} from './port';
import { ProgramError, runToEnd, type ProgramOptions } from './runProgram';
import type { SshSettings } from './settings';

/** The hosts by the `ssh` of this machine: with its configuration, jump hosts, agents, certificates and hardware keys. One connection a host is shared. */

/** `ssh` ends with this code if it has no connection; a command that ends with it looks the same. */
const NO_CONNECTION = 255;

export interface SystemSshOptions {
  readonly ssh: SshSettings;
  /** A folder of ours for the sockets of shared connections; its path has to be short. */
  readonly sockets: string;
  /** The gate for all hosts. */
  readonly connecting: ConcurrencyGate;
  /** Default: `ssh` on the PATH. */
  readonly program?: string;
}

export function openSystemSsh(host: Host, options: SystemSshOptions): HostPort {
  const sessions = concurrencyGate(options.ssh.sessions);
  const base = listArguments(host, options);
  let isConnected = false;
  const call = async (argv: readonly string[], more: ProgramOptions): Promise<RunResult> => {
    const line = quoteArguments(argv);
    const run = (): Promise<RunResult> =>
      runToEnd([options.program ?? 'ssh', ...base, '--', host.address, line], more).catch((error: unknown) => {
        throw error instanceof ProgramError ? new UnreachableHostError(error.message) : error;
      });
    const result = await sessions(() => (isConnected ? run() : options.connecting(run)));
    isConnected = result.code !== NO_CONNECTION;
    if (!isConnected) throw new UnreachableHostError(explainNoConnection(result.stderr));
    return result;
  };
  return {
    run: (argv, { stdin = '', timeoutMs }: CommandOptions) => call(argv, { input: stdin, timeoutMs }),
    upload: async (file, path, { timeoutMs }) => {
      const { code, stderr } = await call(receiveCommand(path), { input: { file }, timeoutMs });
      if (code !== 0) throw new Error(explainRefusedUpload(stderr));
    },
    close: () => {
      void runToEnd([options.program ?? 'ssh', ...base, '-O', 'exit', '--', host.address], { timeoutMs: 5000 }).catch(
        () => undefined,
      );
    },
  };
}

/** Unknown host keys and questions are refused: no person is there to answer. */
function listArguments(host: Host, { ssh, sockets }: SystemSshOptions): string[] {
  const settings = {
    ...{
      BatchMode: 'yes',
      StrictHostKeyChecking: 'yes',
      UpdateHostKeys: 'no',
      ForwardAgent: 'no',
      ClearAllForwardings: 'yes',
    },
    ...{
      ConnectTimeout: String(Math.ceil(ssh.connectTimeout / 1000)),
      ServerAliveInterval: '5',
      ServerAliveCountMax: '3',
    },
    ...{ ControlMaster: 'auto', ControlPath: join(sockets, '%C'), ControlPersist: '60' },
    ...{ UserKnownHostsFile: expandHome(ssh.knownHosts), LogLevel: 'ERROR' },
  };
  return [
    ...(ssh.config === undefined ? [] : ['-F', expandHome(ssh.config)]),
    ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
    ...['-T', '-p', String(host.port)],
    ...(host.user === undefined ? [] : ['-l', host.user]),
    ...(ssh.identity === undefined ? [] : ['-o', 'IdentitiesOnly=yes', '-i', expandHome(ssh.identity)]),
  ];
}

export const expandHome = (path: string): string => (path.startsWith('~/') ? join(homedir(), path.slice(2)) : path);

function explainNoConnection(stderr: string): string {
  const words = stderr.trim().replace(/\s+/g, ' ').slice(-500);
  if (/REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed|host key is known/i.test(words))
    return `its host key is not the one in known_hosts (${words})`;
  return words || 'ssh has no connection';
}
