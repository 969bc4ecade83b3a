import { createReadStream, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientChannel, type ConnectConfig, type ServerHostKeyAlgorithm } from 'ssh2';
import { concurrencyGate, type ConcurrencyGate } from '../../sdk';
import type { Host } from './inventory';
import { computeFingerprint, findHostKeys } from './knownHosts';
import {
  MOST_OUTPUT_BYTES,
  quoteArguments,
  explainRefusedUpload,
  receiveCommand,
  UnreachableHostError,
  type HostPort,
  type RunResult,
} from './port';
import type { SshSettings } from './settings';
import { expandHome } from './systemSsh';

/** The hosts by the library ssh2: one connection a host, made again when it is gone; its channels are bounded. */

export interface Ssh2Options {
  readonly ssh: SshSettings;
  /** The gate for all hosts. */
  readonly connecting: ConcurrencyGate;
  readonly env: NodeJS.ProcessEnv;
}

const ALIVE_EVERY_MS = 5_000;
const MOST_SILENCES = 3;
const MOST_OPENINGS = 8;
const REOPEN_MS = 50;

export function openSsh2(host: Host, options: Ssh2Options): HostPort {
  const sessions = concurrencyGate(options.ssh.sessions);
  let client: Promise<Client> | undefined;
  const connected = (): Promise<Client> => {
    const made = (client ??= options.connecting(() => connectHost(host, options, () => (client = undefined))));
    made.catch(() => (client = undefined));
    return made;
  };
  const run = (argv: readonly string[], input: ChannelInput, timeoutMs: number): Promise<RunResult> =>
    sessions(async () => {
      const line = quoteArguments(argv);
      const used = connected();
      try {
        return await runOnChannel(await used, line, input, timeoutMs);
      } catch (error) {
        // Its `close` comes later, and until then another command would take the dead connection.
        if (client === used) client = undefined;
        throw error;
      }
    });
  return {
    run: (argv, { stdin = '', timeoutMs }) => run(argv, stdin, timeoutMs),
    upload: async (file, path, { timeoutMs }) => {
      const { code, stderr } = await run(receiveCommand(path), { file }, timeoutMs);
      if (code !== 0) throw new Error(explainRefusedUpload(stderr));
    },
    close: () => void client?.then((open) => open.end()).catch(() => undefined),
  };
}

type ChannelInput = string | { readonly file: string };

function connectHost(host: Host, options: Ssh2Options, onClose: () => void): Promise<Client> {
  return new Promise((resolve, reject) => {
    const client = new Client();
    let refused: string | undefined;
    const fail = (why: string): void => {
      client.destroy();
      reject(new UnreachableHostError(refused ?? why));
    };
    client
      .on('ready', () => resolve(client))
      .on('error', (error) => fail(error.message))
      .on('close', () => {
        onClose();
        fail('the host closed the connection');
      });
    try {
      client.connect(buildConfig(host, options, (why) => (refused = why)));
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
    }
  });
}

function buildConfig(host: Host, { ssh, env }: Ssh2Options, refuse: (why: string) => void): ConnectConfig {
  const { check, types } = keyCheck(host, ssh, refuse);
  const agent = env['SSH_AUTH_SOCK'];
  return {
    ...{ host: host.address, port: host.port, username: host.user ?? env['USER'] ?? 'root' },
    ...{ readyTimeout: ssh.connectTimeout, keepaliveInterval: ALIVE_EVERY_MS, keepaliveCountMax: MOST_SILENCES },
    ...{ agentForward: false, hostVerifier: check },
    ...(types.length > 0 && { algorithms: { serverHostKey: types } }),
    ...(ssh.identity === undefined ? agent && { agent } : { privateKey: readFileSync(expandHome(ssh.identity)) }),
  };
}

/** A key that is neither pinned nor in known_hosts is refused. The types of the known keys are what the host may offer, or a host with several would show another. */
function keyCheck(
  host: Host,
  ssh: SshSettings,
  refuse: (why: string) => void,
): { check: (key: Buffer) => boolean; types: ServerHostKeyAlgorithm[] } {
  if (host.fingerprint !== undefined) {
    const check = (key: Buffer): boolean => {
      const shown = computeFingerprint(key);
      if (shown !== host.fingerprint) refuse(`its host key is ${shown}, and the inventory has ${host.fingerprint}`);
      return shown === host.fingerprint;
    };
    return { check, types: [] };
  }
  const file = expandHome(ssh.knownHosts);
  const keys = findHostKeys(readFileSync(file, 'utf8'), host.address, host.port);
  const check = (shown: Buffer): boolean => {
    const isKnown = keys.some(({ key }) => key.equals(shown));
    const words = keys.length === 0 ? `is unknown to ${file}` : `is not the one in ${file}`;
    if (!isKnown) refuse(`its host key ${computeFingerprint(shown)} ${words}`);
    return isKnown;
  };
  return { check, types: [...new Set(keys.flatMap(({ type }) => KEY_ALGORITHMS[type] ?? []))] };
}

/** The algorithms by which a key of a type signs. */
const KEY_ALGORITHMS: Readonly<Record<string, readonly ServerHostKeyAlgorithm[]>> = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
};

/** A command that does not end in time takes the connection with it: the host may hang. */
function runOnChannel(client: Client, line: string, input: ChannelInput, timeoutMs: number): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      client.off('close', lose);
    };
    const fail = (why: string): void => {
      end();
      client.destroy();
      reject(new UnreachableHostError(why));
    };
    const lose = (): void => fail('the connection was lost');
    const timer = setTimeout(() => fail(`the command did not end within ${timeoutMs} ms`), timeoutMs);
    client.once('close', lose);
    openChannel(client, line)
      .then((channel) => followChannel(channel, input, fail))
      .then(
        (result) => {
          end();
          resolve(result);
        },
        (cause: Error) => fail(cause.message),
      );
  });
}

/** A channel that has closed here may still count for sshd (`MaxSessions`): a refusal is tried again for a moment. */
async function openChannel(client: Client, line: string): Promise<ClientChannel> {
  for (let tries = 1; ; tries += 1)
    try {
      return await new Promise<ClientChannel>((resolve, reject) => {
        client.exec(line, (error, channel) => (error ? reject(error) : resolve(channel)));
      });
    } catch (error) {
      if (tries === MOST_OPENINGS || !/open fail/i.test(String(error))) throw error;
      await delay(REOPEN_MS * tries);
    }
}

function followChannel(channel: ClientChannel, input: ChannelInput, fail: (why: string) => void): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const texts = { stdout: '', stderr: '' };
    const keep = (stream: 'stdout' | 'stderr') => (text: string) => {
      texts[stream] += text;
      if (texts[stream].length > MOST_OUTPUT_BYTES) fail(`the command printed more than ${MOST_OUTPUT_BYTES} bytes`);
    };
    channel.setEncoding('utf8').on('data', keep('stdout'));
    channel.stderr.setEncoding('utf8').on('data', keep('stderr'));
    let code: number | undefined;
    channel.on('exit', (ended: number | null) => (code = ended ?? undefined));
    channel.on('error', reject);
    // Without an exit code it is unknown whether the command ended: a signal or a cut connection.
    channel.on('close', () =>
      code === undefined ? reject(new Error('the command ended without a code')) : resolve({ code, ...texts }),
    );
    if (typeof input === 'string') channel.end(input);
    else createReadStream(input.file).on('error', reject).pipe(channel);
  });
}
