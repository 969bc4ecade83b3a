import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { findEmbeddedAddress, isMetadataHost } from '../domain/notifyHost';
import type { Address } from './fetchAt';

/** Addresses outside the public internet (IANA's registries of special-purpose addresses). */
const INTERNAL = new BlockList();
for (const net of [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
  ...['::/127', '64:ff9b:1::/48', '100::/64', '2001::/23', '2001:db8::/32', '3fff::/20', '5f00::/16'],
  ...['fc00::/7', 'fe80::/9', 'ff00::/8'],
]) {
  const [address = '', bits] = net.split('/');
  INTERNAL.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4');
}

/**
 * The reason why nothing is sent to an address that a pipeline wrote out, or the addresses to which it may be sent. A name is resolved, and all
 * of its addresses are checked.
 * @throws the error of the look-up
 */
export async function resolveHost(
  { hostname }: URL,
  mayBeInternal: boolean,
): Promise<{ readonly why: string } | { readonly addresses: readonly Address[] }> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = isIP(host) ? [{ address: host, family: isIP(host) }] : await lookup(host, { all: true });
  const reached = found.flatMap(({ address }) => [address, findEmbeddedAddress(address) ?? address]);
  if ([hostname, ...reached].some(isMetadataHost))
    return { why: 'it is an address of the machine itself or of its cloud' };
  const isInternal = reached.some((address) => INTERNAL.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'));
  if (mayBeInternal || !isInternal) return { addresses: found };
  return { why: 'it is internal, and notifications.internal of conveyor.config.yaml does not allow that' };
}
