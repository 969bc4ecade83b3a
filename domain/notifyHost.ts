import { matches } from './pattern';

/**
 * Hosts that answer with the secrets of a machine to whoever asks from it: link-local addresses and the metadata services of
 * clouds, also as IPv4 within IPv6. As a URL writes them; what a name stands for only the worker sees, which looks again (activities/notifyTarget.ts).
 */
const METADATA =
  /^(169\.254\.\d+\.\d+|100\.100\.100\.200|\[fe[89ab][0-9a-f]:.*\]|\[fd00:ec2::254\]|\[(::ffff|64:ff9b:):a9fe:[0-9a-f]{1,4}\]|metadata(\.google\.internal)?\.?)$/i;

/** Whether nobody may ever have notifications sent there. */
export const isMetadataHost = (host: string): boolean => METADATA.test(host);

/** The host of an address as it is written; undefined for one that begins with a variable, or is none. */
export const hostWritten = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).hostname : undefined);

/** Whether `egress.allow` lets something be sent to a host; without a list everything may. */
export function isAllowedHost(host: string, allow: readonly string[] | null): boolean {
  const plain = host.toLowerCase().replace(/\.$/, '');
  return allow === null || allow.some((pattern) => matches(pattern.toLowerCase(), plain));
}
