import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AGENT_LIMITS } from './limits';
import type { AgentSecrets } from './manifestClient';
import { whyNotUrl } from './request';
import { parseManifestKeys } from './signature';

/** The flags of `conveyor agent` (docs/reference/agent.md). */
export interface AgentSettings {
  readonly server: URL;
  readonly host: string;
  readonly home: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly allowsHttp: boolean;
  readonly spreadMs: number;
  readonly files: AgentFiles;
}

interface AgentFiles {
  readonly token?: string | undefined;
  readonly keys: string;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

const HOST_FLAG = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const MS_A_SECOND = 1_000;

/** @throws Error that names the flag with the mistake */
export function parseSettings(args: readonly string[]): AgentSettings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      manifests: { type: 'string' },
      host: { type: 'string', default: hostname() },
      home: { type: 'string', default: '/var/lib/conveyor-agent' },
      'token-file': { type: 'string' },
      keys: { type: 'string' },
      label: { type: 'string', multiple: true, default: [] },
      ca: { type: 'string' },
      cert: { type: 'string' },
      key: { type: 'string' },
      'allow-http': { type: 'boolean', default: false },
      spread: { type: 'string', default: '10' },
    },
  });
  const allowsHttp = values['allow-http'];
  if (!HOST_FLAG.test(values.host))
    throw new Error(`--host ${values.host}: expected letters, digits, dots, dashes and underscores`);
  if ((values.cert === undefined) !== (values.key === undefined))
    throw new Error('--cert and --key are needed together');
  const token = values['token-file'];
  if (token === undefined && values.cert === undefined)
    throw new Error(
      '--token-file is missing: the server knows this host by a token, or by a certificate (docs/reference/agent.md)',
    );
  return {
    ...{
      server: parseServer(needFlag('manifests', values.manifests), allowsHttp),
      host: values.host,
      home: resolve(values.home),
    },
    ...{ labels: parseLabelFlags(values.label), allowsHttp, spreadMs: parseSeconds('spread', values.spread) },
    files: {
      ...{ token, keys: needFlag('keys', values.keys) },
      ...{ ca: values.ca, cert: values.cert, key: values.key },
    },
  };
}

/**
 * Reads the token, the keys and the certificates.
 * @throws Error if one is missing or damaged, if others can read the token, or if others can write the keys
 */
export function readAgentSecrets({ token, keys, ca, cert, key }: AgentFiles): AgentSecrets {
  refuseMode(keys, 0o022, 'others can write it, and so sign manifests: chmod 644');
  if (key !== undefined) refuseMode(key, 0o077, 'others can read it: chmod 600');
  const read = (file: string | undefined): Buffer | undefined => (file === undefined ? undefined : readFileSync(file));
  return {
    token: token === undefined ? undefined : readTokenFile(token),
    keys: parseKeys(keys),
    tls: { ca: read(ca), cert: read(cert), key: read(key) },
  };
}

function readTokenFile(file: string): string {
  refuseMode(file, 0o077, 'others can read it: chmod 600');
  const text = readFileSync(file, 'utf8').trim();
  if (!/^[\x21-\x7e]{1,4096}$/.test(text)) throw new Error(`${file} has no token: expected one line of text`);
  return text;
}

function parseKeys(file: string): AgentSecrets['keys'] {
  try {
    return parseManifestKeys(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function refuseMode(file: string, forbidden: number, why: string): void {
  const { mode, uid } = statSync(file);
  if ((mode & forbidden) !== 0)
    throw new Error(`${file} has the mode ${(mode & 0o777).toString(8)}, so ${why} ${file}`);
  const own = process.getuid?.();
  if (own !== undefined && uid !== own && uid !== 0) throw new Error(`${file} belongs to another user: chown it`);
}

function needFlag(name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new Error(`--${name} is missing (docs/reference/agent.md)`);
  return value;
}

function parseServer(text: string, allowsHttp: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new Error(`--manifests ${text}: expected a URL such as https://slowroll.example.com`);
  const whyNot = whyNotUrl(url, allowsHttp);
  if (whyNot !== undefined) throw new Error(`--manifests: ${whyNot}`);
  // Paths of the protocol are relative to it.
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

function parseLabelFlags(pairs: readonly string[]): Readonly<Record<string, string>> {
  if (pairs.length > AGENT_LIMITS.labels) throw new Error(`--label is given more than ${AGENT_LIMITS.labels} times`);
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new Error(`--label ${pair}: expected a pair such as region=eu`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

function parseSeconds(name: string, text: string): number {
  if (!/^\d{1,5}(\.\d{1,3})?$/.test(text)) throw new Error(`--${name} ${text}: expected a number of seconds`);
  return Number(text) * MS_A_SECOND;
}
