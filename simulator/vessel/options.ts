/** The faults of a swarm. Shares are of all hosts, from 0 to 1. The seed decides which hosts they hit. */
export interface SwarmFaults {
  /** Hosts that claim the whole package and send something else. */
  readonly liars?: number;
  /** Hosts that fall silent at some moment of the first `vanishWithinMs` and stay so: requests to them time out. */
  readonly vanishing?: number;
  readonly vanishWithinMs?: number;
  /** Hosts that send at a tenth of the normal speed. */
  readonly slow?: number;
  /** When the source falls silent, ms from the start. */
  readonly sourceGoneAtMs?: number;
}

/** A mistake planted in a swarm, for the checkers to find. */
export type SwarmDefect = 'believes-peers' | 'source-always-offers' | 'takes-half-for-whole';

export interface SwarmOptions {
  readonly seed: number;
  readonly hosts: number;
  readonly pieces: number;
  readonly pieceBytes: number;
  /** The most bytes a second that a host, and the source, sends. */
  readonly upload: number;
  readonly sourceUpload: number;
  readonly regions: number;
  readonly racksPerRegion: number;
  /** Within this many ms the configuration names the package to all hosts. */
  readonly spreadMs: number;
  /** When the simulation gives up, ms from the start. */
  readonly untilMs: number;
  readonly faults?: SwarmFaults;
  readonly defect?: SwarmDefect;
}

export interface SwarmReport {
  /** Hosts that neither lied nor vanished, and how many of them have the whole package. */
  readonly honest: number;
  readonly whole: number;
  /** ms from the start until half of them, 99 in 100, and the last had the whole package. */
  readonly median: number;
  readonly p99: number;
  readonly last: number;
  /** How often the source served a piece: on average, and at most. */
  readonly sourceMean: number;
  readonly sourceMost: number;
  /** The share of pieces between hosts that came from the same rack, the same region, and elsewhere. */
  readonly near: readonly [number, number, number];
  /** Pieces that hosts discarded because their digest did not match. */
  readonly lies: number;
  readonly decisions: number;
  readonly violations: readonly string[];
}
