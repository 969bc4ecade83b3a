import { hash } from '../../domain/hash';
import { noBits, type Bits } from '../../domain/vessel/bits';
import type { Distance } from '../../domain/vessel/choose';
import type { ServedPieces } from '../../domain/vessel/offer';
import { TRUSTED, type Trust } from '../../domain/vessel/trust';

/** Whoever sends pieces: the source, or a host. */
export interface Sender {
  readonly id: string;
  /** What it says that it has; of the source `served` decides. */
  readonly have: Bits;
  /** Bytes a second. */
  readonly upload: number;
  readonly isLiar: boolean;
  readonly region: number;
  readonly rack: number;
  /** When all that it was asked for is sent. */
  freeAt: number;
  /** Requests that it has not answered yet. */
  sending: number;
  /** From when on it is silent; Infinity: never. */
  goneAt: number;
  readonly served: Map<number, ServedPieces> | undefined;
}

/** A peer as one host knows it. */
export interface Known {
  readonly sender: Sender;
  readonly distance: Distance;
  readonly has: Bits;
  asked: number;
  trust: Trust;
  heardAt: number;
  isAnswering: boolean;
}

export interface Host extends Sender {
  readonly labels: { readonly region: string; readonly rack: string };
  readonly seed: number;
  /** When the configuration names the package to it. */
  readonly joinsAt: number;
  /** What it keeps of each piece: the digest of what was sent, 0 for nothing. */
  readonly disk: Float64Array;
  readonly known: Map<string, Known>;
  readonly under: Map<number, { readonly peer: string; readonly since: number }[]>;
  count: number;
  lookedAt: number;
  wholeAt: number;
}

export const newKnown = (sender: Sender, distance: Distance, pieces: number): Known => ({
  ...{ sender, distance, has: noBits(pieces), asked: 0, trust: TRUSTED, heardAt: -Infinity, isAnswering: false },
});

export function newHost(id: string, place: { region: number; rack: number }, pieces: number, joinsAt: number): Host {
  const { region, rack } = place;
  return {
    ...{ id, region, rack, joinsAt, isLiar: false, upload: 0, freeAt: 0, sending: 0, goneAt: Infinity },
    ...{ served: undefined, have: noBits(pieces), disk: new Float64Array(pieces), known: new Map(), under: new Map() },
    labels: { region: `r${region}`, rack: `k${rack}` },
    seed: hash(id),
    ...{ count: 0, lookedAt: -Infinity, wholeAt: Infinity },
  };
}
