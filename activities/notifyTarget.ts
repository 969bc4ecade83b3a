import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { isMetadataHost } from '../domain/notifyHost';
import type { Address } from './fetchAt';

const LINK_LOCAL = new BlockList();
LINK_LOCAL.addSubnet('169.254.0.0', 16);
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6');
// What a gateway makes of IPv4 (NAT64); as `::ffff:` the list knows it itself.
LINK_LOCAL.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
LINK_LOCAL.addAddress('100.100.100.200');
LINK_LOCAL.addAddress('fd00:ec2::254', 'ipv6');

const INTERNAL = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  INTERNAL.addSubnet(net, bits);
INTERNAL.addSubnet('::', 127, 'ipv6');
INTERNAL.addSubnet('fc00::', 7, 'ipv6');

/**
 * Why nothing is sent to an address that a pipeline wrote out, or the addresses that it may be sent to. What a name stands for is looked
 * up, and each of its addresses counts.
 * @throws what the look-up throws
 */
export async function lookedAt(
  { hostname }: URL,
  mayBeInternal: boolean,
): Promise<{ readonly why: string } | { readonly addresses: readonly Address[] }> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = isIP(host) ? [{ address: host, family: isIP(host) }] : await lookup(host, { all: true });
  const isIn = (list: BlockList): boolean =>
    found.some(({ address, family }) => list.check(address, family === 6 ? 'ipv6' : 'ipv4'));
  if (isMetadataHost(hostname) || isIn(LINK_LOCAL))
    return { why: 'it is an address of the machine itself or of its cloud' };
  if (mayBeInternal || !isIn(INTERNAL)) return { addresses: found };
  return { why: 'it is internal, and notifications.internal of conveyor.config.yaml does not allow that' };
}
