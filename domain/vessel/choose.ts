import { hasBit, type Bits } from './bits';
import { scatter } from './scatter';

/** Somebody whom a host may ask for pieces. */
export interface Peer {
  /** Its address. */
  readonly id: string;
  readonly distance: Distance;
  readonly has: Bits;
  /** Requests of this host that it has not answered yet. */
  readonly asked: number;
  /** Until when it is left alone, in milliseconds since 1970. */
  readonly restsUntil: number;
}

/** 0: in the same rack, 1: in the same region, 2: elsewhere, 3: the source, which is spared. */
export type Distance = 0 | 1 | 2 | 3;

/** A package on its way to a host. */
export interface Swarm {
  readonly pieces: number;
  readonly mine: Bits;
  /** By piece: whom it was asked for, and since when. */
  readonly asking: ReadonlyMap<number, readonly { readonly peer: string; readonly since: number }[]>;
  readonly peers: readonly Peer[];
  /** Of this host. */
  readonly seed: number;
}

export interface Ask {
  readonly piece: number;
  readonly peer: string;
}

/** Requests that one peer has from one host at once. The source gets one. */
const PER_PEER = 2;
/** A piece that is asked for so long is asked of another one too. */
const SLOW_MS = 2000;

/**
 * Which piece to ask for next, and whom; undefined while there is nothing to ask. What only the source has comes first, so that it is
 * never idle while something is with it alone. Then the rarest piece of the nearest peers, then of those further away, and what is on its
 * way for long at last. Of pieces that are as rare, each host begins with others.
 */
export function nextAsk(swarm: Swarm, now: number): Ask | undefined {
  const awake = swarm.peers.filter(({ restsUntil }) => restsUntil <= now);
  const free = awake.filter(({ asked, distance }) => asked < (distance === 3 ? 1 : PER_PEER));
  if (free.length === 0) return undefined;
  const rarity = rarityOf(swarm, awake);
  const isFresh = (piece: number): boolean => !swarm.asking.has(piece);
  const isOnlyThere = (piece: number): boolean => isFresh(piece) && rarity[piece] === 1;
  const byDistance = ([0, 1, 2, 3] as const).map((distance) => free.filter((peer) => peer.distance === distance));
  const turns: (readonly [readonly Peer[], (piece: number) => boolean])[] = [
    [byDistance[3] ?? [], isOnlyThere],
    ...byDistance.map((peers) => [peers, isFresh] as const),
    ...byDistance.map((peers) => [peers, (piece: number) => isSlow(swarm, piece, now)] as const),
  ];
  for (const [peers, mayAsk] of turns) {
    const piece = peers.length === 0 ? undefined : rarest(swarm, peers, rarity, mayAsk);
    if (piece !== undefined) return { piece, peer: lightest(swarm, peers, piece).id };
  }
  return undefined;
}

/** Who is awake and has each piece. */
function rarityOf({ pieces }: Swarm, peers: readonly Peer[]): Uint16Array {
  const rarity = new Uint16Array(pieces);
  for (const { has } of peers)
    for (let piece = 0; piece < pieces; piece += 1) if (hasBit(has, piece)) rarity[piece] = (rarity[piece] ?? 0) + 1;
  return rarity;
}

const isSlow = ({ asking }: Swarm, piece: number, now: number): boolean => {
  const [first, ...others] = asking.get(piece) ?? [];
  return first !== undefined && others.length === 0 && now - first.since > SLOW_MS;
};

function rarest(
  swarm: Swarm,
  peers: readonly Peer[],
  rarity: Uint16Array,
  mayAsk: (piece: number) => boolean,
): number | undefined {
  let best: number | undefined;
  let order = Infinity;
  for (let piece = 0; piece < swarm.pieces; piece += 1) {
    const rare = rarity[piece] ?? 0;
    if (rare === 0 || rare * 2 ** 32 > order || hasBit(swarm.mine, piece) || !mayAsk(piece)) continue;
    if (!peers.some((peer) => canGive(swarm, peer, piece))) continue;
    const own = rare * 2 ** 32 + scatter(swarm.seed, piece);
    if (own < order) [best, order] = [piece, own];
  }
  return best;
}

const canGive = ({ asking }: Swarm, { id, has }: Peer, piece: number): boolean =>
  hasBit(has, piece) && !(asking.get(piece)?.some(({ peer }) => peer === id) ?? false);

function lightest(swarm: Swarm, peers: readonly Peer[], piece: number): Peer {
  const able = peers.filter((peer) => canGive(swarm, peer, piece));
  const order = (peer: Peer): number => peer.asked * 2 ** 32 + scatter(swarm.seed ^ piece, peers.indexOf(peer));
  return able.reduce((best, peer) => (order(peer) < order(best) ? peer : best));
}
