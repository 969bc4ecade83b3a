import { hash } from '../../domain/hash';
import { noBits, type Bits } from '../../configerator/domain/vessel/bits';
import type { Distance } from '../../configerator/domain/vessel/choose';
import type { ServedPieces } from '../../configerator/domain/vessel/offer';
import { TRUSTED, type Trust } from '../../configerator/domain/vessel/trust';

/** A sender of pieces: the source, or a host. */
export interface Sender {
  readonly id: string;
  /** The pieces that it offers; for the source, `served` decides. */
  readonly have: Bits;
  /** Bytes a second. */
  readonly upload: number;
  readonly isLiar: boolean;
  readonly region: number;
  readonly rack: number;
  /** When it has sent everything that it was asked for. */
  freeAt: number;
  /** Requests that it has not answered yet. */
  sending: number;
  /** When it falls silent; Infinity: never. */
  goneAt: number;
  readonly served: Map<number, ServedPieces> | undefined;
}

/** A peer as one host knows it. */
export interface PeerRecord {
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
  /** The content of each piece on its disk: the digest of the data that was sent, 0 for nothing. */
  readonly disk: Float64Array;
  readonly known: Map<string, PeerRecord>;
  readonly under: Map<number, { readonly peer: string; readonly since: number }[]>;
  count: number;
  lookedAt: number;
  wholeAt: number;
}

export const newKnown = (sender: Sender, distance: Distance, pieces: number): PeerRecord => ({
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
