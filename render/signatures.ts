import type { KnownSignatures } from '../configerator/subscriptions';
import { paint, type View } from './paint';

/** Undefined from a server that does not support signatures. */
type SignatureReport = KnownSignatures | undefined;

/** Whether the store's record of a path can be trusted; nothing for a store without signatures. */
export function renderSignatures(
  path: string,
  signatures: SignatureReport,
  view: Pick<View, 'color'>,
): readonly string[] {
  const colors = paint(view.color);
  if (signatures === undefined) return [];
  if ('unknown' in signatures) return [colors.yellow(`unknown whether ${path} is signed: ${signatures.unknown}`)];
  const { state, faults, more } = signatures;
  if (state === 'signed') return [colors.green(`the store holds ${path} signed by a key that is trusted here`)];
  if (state === 'unchecked')
    return [`the store holds ${path} signed; --trust FILE checks whether one of your keys signed it`];
  const lines = faults.map(({ what, why }) => `✗ ${what} of ${path} in the store cannot be trusted: ${why}`);
  return [...lines, ...(more > 0 ? [`✗ and ${more} more of ${path}`] : [])].map((line) => colors.red(line));
}

/** Hosts with the same trusted keys refuse untrusted records. */
export const isAnyUntrusted = (all: readonly SignatureReport[]): boolean =>
  all.some((one) => one !== undefined && 'state' in one && one.state === 'untrusted');
