import { matches } from './pattern';

/**
 * Hosts that answer requests from a machine with its secrets: link-local addresses and the metadata services of clouds.
 * They are checked here as written in a URL; only the worker knows the addresses of a name, and checks again
 * (activities/notifyTarget.ts).
 */
const METADATA =
  /^(169\.254\.\d+\.\d+|100\.100\.100\.200|168\.63\.129\.16|192\.0\.0\.192|\[?fe[89ab][0-9a-f]:.*|\[?fd00:ec2::254\]?|\[?fd20:ce::254\]?|metadata(\.google\.internal)?\.?)$/i;

/** Whether notifications may never be sent there. */
export const isMetadataHost = (host: string): boolean =>
  METADATA.test(host) || METADATA.test(findEmbeddedAddress(host) ?? '');

/**
 * The IPv4 address inside an IPv6 address, which a gateway or the machine itself contacts in its place: mapped, compatible and
 * translated (RFC 4291, 6052, 7915), or 6to4 (RFC 3056). Undefined for all others.
 */
export function findEmbeddedAddress(host: string): string | undefined {
  const groups = parseIpv6Groups(host);
  if (groups === undefined) return undefined;
  const [first = '', ...rest] = groups;
  if (first !== '2002' && !PREFIXES.has(groups.slice(0, 6).join(':'))) return undefined;
  const [high = '0', low = '0'] = first === '2002' ? rest : groups.slice(6);
  return [high, low].flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff]).join('.');
}

const PREFIXES: ReadonlySet<string> = new Set(['0:0:0:0:0:0', '0:0:0:0:0:ffff', '0:0:0:0:ffff:0', '64:ff9b:0:0:0:0']);

/** The eight groups of an IPv6 address, in brackets or not, as a URL writes them. */
function parseIpv6Groups(host: string): string[] | undefined {
  const url = `http://[${host.replace(/^\[|\]$|%.*$/g, '')}]`;
  if (!URL.canParse(url)) return undefined;
  const [before = '', after] = new URL(url).hostname.slice(1, -1).split('::');
  const [head, tail] = [before, after ?? ''].map((part) => part.split(':').filter(Boolean)) as [string[], string[]];
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
}

/** The host of an address as written; undefined if the address begins with a variable or is invalid. */
export const hostWritten = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).hostname : undefined);

/** Whether `egress.allow` permits a host; without a list every host is permitted. */
export function isAllowedHost(host: string, allow: readonly string[] | null): boolean {
  const plain = host.toLowerCase().replace(/\.$/, '');
  return allow === null || allow.some((pattern) => matches(pattern.toLowerCase(), plain));
}
