import { hash } from '../../domain/hash';
import { VESSEL_LIMITS } from '../../domain/limits';
import { noBits, setBit, type Bits } from '../domain/vessel/bits';
import { nextAsk, type PieceRequest, type Distance } from '../domain/vessel/choose';
import { AT_ONCE, isHearingDue, isLookDue, TURN_MS } from '../domain/vessel/pace';
import { measureDistance, pickPeers, type Candidate } from '../domain/vessel/peers';
import { TRUSTED, trustAfter, type AskOutcome, type Trust } from '../domain/vessel/trust';
import { Bell } from '../store/bell';
import type { PeerClient } from './peerClient';
import type { Pieces } from './pieces';

export interface FetchingOptions {
  readonly host: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** The hosts that have the package or are fetching it. */
  readonly peers: () => Promise<readonly Candidate[]>;
  readonly asking: PeerClient;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** How often a disk that accepts no writes is tried again. Default 10 s. */
  readonly retryDiskMs?: number | undefined;
}

interface KnownPeer {
  readonly id: string;
  readonly distance: Distance;
  has: Bits;
  asked: number;
  trust: Trust;
  /** When it last listed its pieces. */
  heardAt: number;
  isAnswering: boolean;
}

/** After this long without a piece the log gets a line. */
const STUCK_MS = 10_000;
const RETRY_DISK_MS = 10_000;

/** Fetches the pieces of one package from all hosts that offer them. */
export class PackageFetch {
  private readonly known = new Map<string, KnownPeer>();
  private readonly under = new Map<number, { readonly peer: string; readonly since: number }[]>();
  private readonly bell = new Bell();
  private readonly ending = new AbortController();
  private readonly seed: number;
  private lookedAt = -Infinity;
  private isLooking = false;
  private cameAt: number;
  /** Why the disk accepts no writes, and when it is tried again. */
  private disk: { readonly why: string; readonly until: number } | undefined;

  constructor(
    private readonly pieces: Pieces,
    private readonly options: FetchingOptions,
  ) {
    this.seed = hash(options.host);
    this.cameAt = options.now();
    const { source, pieces: all } = pieces.pack;
    this.known.set(source, createKnownPeer(source, 3, all.length));
  }

  /** Resolves once all pieces are there, even if they do not make the package, or once it is stopped. */
  async run(): Promise<void> {
    await this.pieces.verified;
    this.cameAt = this.options.now();
    while (!this.isOver && !this.ending.signal.aborted) {
      this.findPeers();
      this.askWhoHas();
      this.askForPieces();
      await this.bell.wait(TURN_MS);
    }
    this.stop();
  }

  stop(): void {
    this.ending.abort();
    this.bell.ring();
  }

  /** Why no pieces arrive; undefined while they do. */
  get trouble(): string | undefined {
    if (this.disk) return `the disk takes nothing: ${this.disk.why}`;
    const { pack, count } = this.pieces;
    const now = this.options.now();
    if (count === this.total || now - this.cameAt < STUCK_MS) return undefined;
    const awake = [...this.known.values()].filter(({ trust }) => trust.restsUntil <= now);
    return `${pack.pieces.length - count} of ${pack.pieces.length} pieces are missing, and ${awake.length} of ${this.known.size} hosts answer`;
  }

  private findPeers(): void {
    const now = this.options.now();
    if (this.isLooking || !isLookDue(this.known.size, this.lookedAt, now)) return;
    this.lookedAt = now;
    this.isLooking = true;
    const { peers, labels } = this.options;
    peers()
      .then((candidates) => {
        this.forget(new Set(candidates.map(({ id }) => id)));
        for (const { id, labels: others } of pickPeers(candidates, labels, this.seed))
          if (!this.known.has(id) && this.known.size <= VESSEL_LIMITS.peers.max)
            this.known.set(id, createKnownPeer(id, measureDistance(labels, others), this.total));
      })
      .catch(() => undefined) // The store is away: known peers continue.
      .finally(() => {
        this.isLooking = false;
        this.bell.ring();
      });
  }

  /** Forgets peers that have left, but keeps those that sent bad pieces while they are banned. */
  private forget(present: ReadonlySet<string>): void {
    const now = this.options.now();
    for (const [id, { distance, trust, asked }] of this.known)
      if (distance !== 3 && trust.restsUntil <= now && asked === 0 && !present.has(id)) this.known.delete(id);
  }

  private get isOver(): boolean {
    return this.pieces.isWhole || this.pieces.otherDigest !== undefined;
  }

  private get total(): number {
    return this.pieces.pack.pieces.length;
  }

  private askWhoHas(): void {
    const now = this.options.now();
    for (const peer of this.known.values()) {
      const isDue = peer.asked === 0 && !peer.isAnswering && isHearingDue(peer, this.known.size, now);
      if (!isDue || peer.trust.restsUntil > now || !this.hasRoom) continue;
      peer.isAnswering = true;
      void this.askOne(peer).finally(() => {
        peer.isAnswering = false;
        this.bell.ring();
      });
    }
  }

  private async askOne(peer: KnownPeer): Promise<void> {
    const { asking, now } = this.options;
    try {
      const has = await asking.fetchBits(peer.id, this.pieces, this.ending.signal);
      peer.heardAt = now();
      if (has === 'busy') this.judge(peer, 'busy');
      else peer.has = has;
    } catch {
      this.judge(peer, 'failed');
    }
  }

  private get hasRoom(): boolean {
    return this.under.size < AT_ONCE;
  }

  private askForPieces(): void {
    const now = this.options.now();
    if (this.disk && this.disk.until > now) return;
    while (this.hasRoom) {
      const peers = [...this.known.values()].map(({ id, distance, has, asked, trust }) => {
        return { id, distance, has, asked, restsUntil: trust.restsUntil };
      });
      const { have: mine } = this.pieces;
      const ask = nextAsk({ pieces: this.total, mine, asking: this.under, peers, seed: this.seed }, now);
      const peer = ask && this.known.get(ask.peer);
      if (ask === undefined || peer === undefined) return;
      void this.fetchPiece(ask, peer);
    }
  }

  private async fetchPiece({ piece }: PieceRequest, peer: KnownPeer): Promise<void> {
    const mine = { peer: peer.id, since: this.options.now() };
    this.under.set(piece, [...(this.under.get(piece) ?? []), mine]);
    peer.asked += 1;
    const outcome = await this.tryPiece(piece, peer).catch(() => 'failed' as const);
    peer.asked -= 1;
    const left = (this.under.get(piece) ?? []).filter((one) => one !== mine);
    if (left.length === 0) this.under.delete(piece);
    else this.under.set(piece, left);
    if (!this.ending.signal.aborted) this.judge(peer, outcome);
    this.bell.ring();
  }

  private async tryPiece(piece: number, peer: KnownPeer): Promise<AskOutcome> {
    const { asking, now } = this.options;
    const given = await asking.fetchPiece(peer.id, this.pieces, piece, this.ending.signal);
    if (given === 'busy') {
      setBit(peer.has, piece, false);
      return 'busy';
    }
    if (given.has) [peer.has, peer.heardAt] = [given.has, now()];
    const isGood = await this.keep(piece, given.bytes);
    if (!isGood) this.options.log(`${peer.id} sent a piece that does not fit its digest; it is left alone for a while`);
    return isGood ? 'good' : 'lied';
  }

  /** A failed write is not the peer's fault. */
  private async keep(piece: number, bytes: Uint8Array): Promise<boolean> {
    const { now, log, retryDiskMs = RETRY_DISK_MS } = this.options;
    try {
      if (!(await this.pieces.write(piece, bytes))) return false;
      this.cameAt = now();
      this.disk = undefined;
    } catch (error) {
      const why = (error as Error).message;
      if (this.disk === undefined) log(`a package cannot be written: ${why}`);
      this.disk = { why, until: now() + retryDiskMs };
    }
    return true;
  }

  private judge(peer: KnownPeer, outcome: AskOutcome): void {
    peer.trust = trustAfter(peer.trust, outcome, this.options.now());
  }
}

const createKnownPeer = (id: string, distance: Distance, pieces: number): KnownPeer => ({
  ...{ id, distance, has: noBits(pieces), asked: 0, trust: TRUSTED, heardAt: -Infinity, isAnswering: false },
});
