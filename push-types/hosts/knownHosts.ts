import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Which key a host must show: by a `known_hosts` file, or by a fingerprint. Pure. */

/** A key of `known_hosts`: its type, such as `ssh-ed25519`, and its bytes. */
export interface HostKey {
  readonly type: string;
  readonly key: Buffer;
}

/** The keys of a host in the text of a `known_hosts` file; a revoked key is none. Certificates of hosts are not supported: use the `ssh` of the system. */
export function findHostKeys(text: string, address: string, port: number): readonly HostKey[] {
  const name = port === 22 ? address : `[${address}]:${port}`;
  const lines = text
    .split('\n')
    .flatMap(parseLine)
    .filter(({ names }) => matchesHost(names, name));
  const revoked = lines.filter(({ marker }) => marker === '@revoked');
  return lines.filter(({ marker, key }) => marker === '' && !revoked.some((one) => one.key.equals(key)));
}

/** `SHA256:…`, as `ssh-keygen -l` prints it. */
export const computeFingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

interface KnownLine extends HostKey {
  readonly marker: string;
  readonly names: readonly string[];
}

function parseLine(line: string): KnownLine[] {
  const words = line.trim().split(/\s+/);
  if (words[0] === '' || words[0]?.startsWith('#')) return [];
  const marker = words[0]?.startsWith('@') ? (words.shift() ?? '') : '';
  const [names = '', type = '', key = ''] = words;
  return key === '' ? [] : [{ marker, names: names.split(','), type, key: Buffer.from(key, 'base64') }];
}

/** A name may be hashed or a pattern with `*` and `?`; one `!pattern` that matches excludes the host. */
function matchesHost(names: readonly string[], host: string): boolean {
  if (names.some((name) => name.startsWith('!') && matchesPattern(name.slice(1), host))) return false;
  return names.some((name) => (name.startsWith('|1|') ? matchesHash(name, host) : matchesPattern(name, host)));
}

function matchesHash(name: string, host: string): boolean {
  const [, , salt = '', hash = ''] = name.split('|');
  const computed = createHmac('sha1', Buffer.from(salt, 'base64')).update(host).digest();
  const wanted = Buffer.from(hash, 'base64');
  return wanted.length === computed.length && timingSafeEqual(wanted, computed);
}

const matchesPattern = (pattern: string, host: string): boolean =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    'i',
  ).test(host);
