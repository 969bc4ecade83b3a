import { hasBit, noBits, setBit, type Bits } from './bits';
import { scatter } from './scatter';

/** A host that may be asked for pieces. */
export interface Peer {
  /** Its address. */
  readonly id: string;
  readonly distance: Distance;
  readonly has: Bits;
  /** The number of requests from this host that it has not answered yet. */
  readonly asked: number;
  /** The time until which it is not asked, in milliseconds since 1970. */
  readonly restsUntil: number;
}

/** 0: in the same rack, 1: in the same region, 2: elsewhere, 3: the source, which is used sparingly. */
export type Distance = 0 | 1 | 2 | 3;

/** A package that a host is fetching. */
export interface Swarm {
  readonly pieces: number;
  readonly mine: Bits;
  /** By piece: the peers that were asked for it, and when. */
  readonly asking: ReadonlyMap<number, readonly { readonly peer: string; readonly since: number }[]>;
  readonly peers: readonly Peer[];
  /** The seed of this host. */
  readonly seed: number;
}

export interface PieceRequest {
  readonly piece: number;
  readonly peer: string;
}

/** Requests that one peer may have from one host at once. The source may have one. */
const PER_PEER = 2;
/** A piece that takes this long is also requested from another peer. */
const SLOW_MS = 2000;

/**
 * The next piece to ask for, and the peer to ask; undefined if there is nothing to ask. First come pieces that only the source has, so that the
 * source is never idle while it alone has some. Then comes the rarest piece of the nearest peers, then of those further away, and last come slow
 * pieces. Among equally rare pieces, each host begins with different ones.
 */
export function nextAsk(swarm: Swarm, now: number): PieceRequest | undefined {
  const awake = swarm.peers.filter(({ restsUntil }) => restsUntil <= now);
  const free = awake.filter(({ asked, distance }) => asked < (distance === 3 ? 1 : PER_PEER));
  if (free.length === 0) return undefined;
  const byDistance = ([0, 1, 2, 3] as const).map((distance) => free.filter((peer) => peer.distance === distance));
  const fresh = freshBits(swarm);
  const slow = [...swarm.asking.keys()].filter((piece) => !hasBit(swarm.mine, piece) && isSlow(swarm, piece, now));
  const turns: (readonly [readonly Peer[], (peers: readonly Peer[]) => readonly number[]])[] = [
    [byDistance[3] ?? [], (peers) => piecesThere(swarm, bothBits(fresh, onlyOnce(swarm, awake)), peers)],
    ...byDistance.map((group) => [group, (peers: readonly Peer[]) => piecesThere(swarm, fresh, peers)] as const),
    ...byDistance.map((group) => [group, () => slow] as const),
  ];
  for (const [peers, piecesFor] of turns) {
    const piece = peers.length === 0 ? undefined : rarest(swarm, awake, peers, piecesFor(peers));
    if (piece !== undefined) return { piece, peer: lightest(swarm, peers, piece).id };
  }
  return undefined;
}

// A host decides hundreds of times for each package, over thirty peers. Bytes with eight pieces each are much faster than single
// pieces.

/** The pieces that this host neither has nor has asked for. */
function freshBits({ pieces, mine, asking }: Swarm): Bits {
  const fresh = noBits(pieces);
  for (let at = 0; at < fresh.length; at += 1) fresh[at] = ~(mine[at] ?? 0);
  for (const piece of asking.keys()) setBit(fresh, piece, false);
  return fresh;
}

/** The pieces that exactly one of these peers has. */
function onlyOnce({ pieces }: Swarm, peers: readonly Peer[]): Bits {
  const [any, more] = [noBits(pieces), noBits(pieces)];
  for (const { has } of peers)
    for (let at = 0; at < any.length; at += 1) {
      more[at] = (more[at] ?? 0) | ((any[at] ?? 0) & (has[at] ?? 0));
      any[at] = (any[at] ?? 0) | (has[at] ?? 0);
    }
  return any.map((byte, at) => byte & ~(more[at] ?? 0));
}

const bothBits = (one: Bits, other: Bits): Bits => one.map((byte, at) => byte & (other[at] ?? 0));

/** The wanted pieces that at least one of these peers has. */
function piecesThere({ pieces }: Swarm, wanted: Bits, peers: readonly Peer[]): readonly number[] {
  const found: number[] = [];
  for (const [at, byte] of wanted.entries()) {
    let there = 0;
    if (byte !== 0) for (const { has } of peers) there |= has[at] ?? 0;
    there &= byte;
    for (let bit = 0; there !== 0; bit += 1, there >>= 1)
      if ((there & 1) !== 0 && at * 8 + bit < pieces) found.push(at * 8 + bit);
  }
  return found;
}

const isSlow = ({ asking }: Swarm, piece: number, now: number): boolean => {
  const [first, ...others] = asking.get(piece) ?? [];
  return first !== undefined && others.length === 0 && now - first.since > SLOW_MS;
};

/** The piece that the fewest awake peers have. */
function rarest(
  swarm: Swarm,
  awake: readonly Peer[],
  peers: readonly Peer[],
  pieces: readonly number[],
): number | undefined {
  let best: number | undefined;
  let order = Infinity;
  for (const piece of pieces) {
    let rare = 0;
    for (const { has } of awake) if (hasBit(has, piece)) rare += 1;
    const own = rare * 2 ** 32 + scatter(swarm.seed, piece);
    if (own < order && peers.some((peer) => canGive(swarm, peer, piece))) [best, order] = [piece, own];
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
