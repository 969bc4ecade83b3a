import { hasBit, noBits, setBit } from '../../configerator/domain/vessel/bits';
import { nextAsk, type PieceRequest, type Peer } from '../../configerator/domain/vessel/choose';
import { computeOfferedBits } from '../../configerator/domain/vessel/offer';
import { AT_ONCE, isHearingDue, isLookDue, TURN_MS } from '../../configerator/domain/vessel/pace';
import { measureDistance, pickPeers } from '../../configerator/domain/vessel/peers';
import { trustAfter, type AskOutcome } from '../../configerator/domain/vessel/trust';
import { VESSEL_LIMITS } from '../../domain/limits';
import { popDue, pushDue, type Due } from '../kernel/heap';
import { SwarmCheckers } from './checkers';
import { newKnown, type Host, type PeerRecord, type Sender } from './host';
import { answerAt, digestOfPiece, request, type Delivery } from './network';
import type { SwarmOptions, SwarmReport } from './options';
import { populate } from './populate';
import { buildSwarmReport, type Tally } from './report';

type SwarmEvent =
  | { readonly kind: 'turn'; readonly host: Host }
  | { readonly kind: 'heard'; readonly host: Host; readonly peer: PeerRecord; readonly isThere: boolean }
  | {
      readonly kind: 'piece';
      readonly host: Host;
      readonly peer: PeerRecord;
      readonly piece: number;
      readonly since: number;
      readonly delivery: Delivery;
    };

/** A silent host stays among the candidates for this long: its lease in the store. */
const LEASE_MS = 60_000;
/** The greatest age of a host's list of candidates. */
const LISTED_MS = 1000;

/**
 * A package on its way to all hosts, in virtual time: each host decides as real ones do (configerator/domain/vessel), in the order
 * of events. No data is sent; a piece is the number of its digest. The same options give the same swarm.
 */
export function simulateSwarm(options: SwarmOptions): SwarmReport {
  return new Swarm(options).run();
}

class Swarm {
  private readonly checkers: SwarmCheckers;
  private readonly hosts: readonly Host[];
  private readonly source: Sender;
  private readonly due: Due<SwarmEvent>[] = [];
  private readonly tally: Tally;
  private seq = 0;
  private now = 0;
  private left = 0;
  private listed: { readonly at: number; readonly hosts: readonly Host[]; readonly ids: ReadonlySet<string> };

  constructor(private readonly options: SwarmOptions) {
    this.checkers = new SwarmCheckers(options);
    [this.source, this.hosts] = populate(options);
    const sourceCounts = new Array<number>(options.pieces).fill(0);
    this.tally = { sourceCounts, near: [0, 0, 0], lies: 0, decisions: 0 };
    this.listed = { at: -Infinity, hosts: [], ids: new Set() };
  }

  run(): SwarmReport {
    for (const host of this.hosts) {
      if (host.isLiar) continue;
      host.known.set(this.source.id, newKnown(this.source, 3, this.options.pieces));
      this.at(host.joinsAt, { kind: 'turn', host });
      if (host.goneAt === Infinity) this.left += 1;
    }
    for (let next = popDue(this.due); next && this.left > 0; next = popDue(this.due)) {
      if (next.at > this.options.untilMs) break;
      this.now = next.at;
      this.handle(next.event);
    }
    this.checkers.ends(this.hosts);
    return buildSwarmReport(this.hosts, this.tally, this.checkers.violations);
  }

  private at(at: number, event: SwarmEvent): void {
    pushDue(this.due, { at, seq: this.seq++, event });
  }

  private handle(event: SwarmEvent): void {
    const { host } = event;
    if (event.kind === 'piece') this.arrives(event);
    if (host.goneAt <= this.now || host.wholeAt <= this.now) return;
    if (event.kind === 'turn') this.at(this.now + TURN_MS, event);
    if (event.kind === 'heard') this.hears(event.peer, event.isThere);
    this.findPeers(host);
    this.askWhoHas(host);
    this.askForPieces(host);
  }

  private findPeers(host: Host): void {
    const { known, labels, seed } = host;
    if (!isLookDue(known.size, host.lookedAt, this.now)) return;
    host.lookedAt = this.now;
    const { hosts, ids } = this.candidates();
    for (const [id, { distance, trust, asked }] of known)
      if (distance !== 3 && trust.restsUntil <= this.now && asked === 0 && !ids.has(id)) known.delete(id);
    for (const other of pickPeers(hosts, labels, seed))
      if (other !== host && !known.has(other.id) && known.size <= VESSEL_LIMITS.peers.max)
        known.set(other.id, newKnown(other, measureDistance(labels, other.labels), this.options.pieces));
  }

  /** The hosts that have announced that they have the package or fetch it, as the store lists them. */
  private candidates() {
    if (this.now - this.listed.at >= LISTED_MS) {
      const isListed = ({ joinsAt, goneAt }: Host): boolean =>
        joinsAt + LISTED_MS <= this.now && this.now < goneAt + LEASE_MS;
      const hosts = this.hosts.filter(isListed);
      this.listed = { at: this.now, hosts, ids: new Set(hosts.map(({ id }) => id)) };
    }
    return this.listed;
  }

  private askWhoHas(host: Host): void {
    if (host.under.size >= AT_ONCE) return;
    for (const peer of host.known.values()) {
      if (peer.asked > 0 || peer.isAnswering || peer.trust.restsUntil > this.now) continue;
      if (!isHearingDue(peer, host.known.size, this.now)) continue;
      peer.isAnswering = true;
      const { at, isThere } = answerAt(host, peer.sender, this.now);
      this.at(at, { kind: 'heard', host, peer, isThere });
    }
  }

  private hears(peer: PeerRecord, isThere: boolean): void {
    peer.isAnswering = false;
    if (isThere) this.learns(peer);
    else peer.trust = trustAfter(peer.trust, 'failed', this.now);
  }

  private learns(peer: PeerRecord): void {
    const { served, have } = peer.sender;
    peer.has.set(served ? this.offered(served) : have);
    peer.heardAt = this.now;
  }

  private offered(served: NonNullable<Sender['served']>) {
    const { pieces, defect } = this.options;
    return defect === 'source-always-offers' ? noBits(pieces).fill(255) : computeOfferedBits(served, pieces, this.now);
  }

  private askForPieces(host: Host): void {
    const { known, under, have: mine, seed } = host;
    while (under.size < AT_ONCE) {
      const peers = [...known.values()].map(({ sender, distance, has, asked, trust }): Peer => {
        return { id: sender.id, distance, has, asked, restsUntil: trust.restsUntil };
      });
      this.tally.decisions += 1;
      const ask = nextAsk({ pieces: this.options.pieces, mine, asking: under, peers, seed }, this.now);
      const peer = ask && known.get(ask.peer);
      if (ask === undefined || peer === undefined) return;
      this.asks(host, ask, peer);
    }
  }

  private asks(host: Host, { piece }: PieceRequest, peer: PeerRecord): void {
    const { sender } = peer;
    host.under.set(piece, [...(host.under.get(piece) ?? []), { peer: sender.id, since: this.now }]);
    peer.asked += 1;
    if (this.options.defect === 'source-always-offers') sender.served?.delete(piece);
    const delivery = request(host, sender, piece, this.options.pieceBytes, this.now);
    if (sender === this.source && delivery.isSending) {
      this.checkers.serves(piece, this.now);
      this.tally.sourceCounts[piece] = (this.tally.sourceCounts[piece] ?? 0) + 1;
    }
    this.at(delivery.at, { kind: 'piece', host, peer, piece, since: this.now, delivery });
  }

  private arrives({ host, peer, piece, since, delivery }: Extract<SwarmEvent, { kind: 'piece' }>): void {
    const { sender } = peer;
    if (delivery.isSending) sender.sending -= 1;
    if (host.goneAt <= this.now) return;
    peer.asked -= 1;
    const left = (host.under.get(piece) ?? []).filter((one) => one.peer !== sender.id || one.since !== since);
    if (left.length === 0) host.under.delete(piece);
    else host.under.set(piece, left);
    peer.trust = trustAfter(peer.trust, this.outcomeOf(host, peer, piece, delivery), this.now);
  }

  private outcomeOf(host: Host, peer: PeerRecord, piece: number, { outcome, digest }: Delivery): AskOutcome {
    if (outcome === 'busy') setBit(peer.has, piece, false);
    if (outcome !== 'sent') return outcome;
    this.learns(peer);
    if (digest !== digestOfPiece(piece) && this.options.defect !== 'believes-peers') {
      this.tally.lies += 1;
      return 'lied';
    }
    if (!hasBit(host.have, piece)) this.keeps(host, peer, piece, digest);
    return 'good';
  }

  private keeps(host: Host, { distance }: PeerRecord, piece: number, digest: number): void {
    host.disk[piece] = digest;
    setBit(host.have, piece, true);
    host.count += 1;
    if (distance !== 3) this.tally.near[distance] += 1;
    const { pieces, defect } = this.options;
    if (host.count < (defect === 'takes-half-for-whole' ? pieces / 2 : pieces)) return;
    host.wholeAt = this.now;
    this.checkers.isWhole(host);
    if (host.goneAt === Infinity) this.left -= 1;
  }
}
