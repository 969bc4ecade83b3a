import type { KnownSignatures } from '../../config/subscriptions';
import { EXIT } from '../exit';
import { paint, type View } from './paint';

/** Undefined from a server that does not know of signatures. */
type Shown = KnownSignatures | undefined;

/** Whether what the store holds of a path can be believed; nothing for a store without signatures. */
export function renderSignatures(path: string, signatures: Shown, view: Pick<View, 'color'>): readonly string[] {
  const colors = paint(view.color);
  if (signatures === undefined) return [];
  if ('unknown' in signatures) return [colors.yellow(`whether ${path} is signed is unknown: ${signatures.unknown}`)];
  const { state, faults, more } = signatures;
  if (state === 'signed') return [colors.green(`the store holds ${path} signed by a key that is trusted here`)];
  if (state === 'unchecked') return [`the store holds ${path} signed; --trust FILE says whether by a key of yours`];
  const lines = faults.map(({ what, why }) => `✗ ${what} of ${path} in the store is not to be believed: ${why}`);
  return [...lines, ...(more > 0 ? [`✗ and ${more} more of ${path}`] : [])].map((line) => colors.red(line));
}

/** Hosts that trust the same keys do not take what cannot be believed. */
export const exitOfSignatures = (all: readonly Shown[]): number =>
  all.some((one) => one !== undefined && 'state' in one && one.state === 'untrusted') ? EXIT.error : EXIT.ok;
