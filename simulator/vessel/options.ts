/** What goes wrong in a swarm. Shares are of all hosts, from 0 to 1. Whom it meets follows from the seed. */
export interface SwarmFaults {
  /** Hosts that say that they have all of it and send something else. */
  readonly liars?: number;
  /** Hosts that fall silent at some moment of the first `vanishWithinMs`, and stay so: who asks them waits in vain. */
  readonly vanishing?: number;
  readonly vanishWithinMs?: number;
  /** Hosts that send a tenth of what others do. */
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
  /** Bytes a second that a host, and the source, sends at most. */
  readonly upload: number;
  readonly sourceUpload: number;
  readonly regions: number;
  readonly racksPerRegion: number;
  /** Within so many ms the configuration names the package to all hosts. */
  readonly spreadMs: number;
  /** When it is given up, ms from the start. */
  readonly untilMs: number;
  readonly faults?: SwarmFaults;
  readonly defect?: SwarmDefect;
}

export interface SwarmReport {
  /** Hosts that neither lied nor vanished, and how many of them have all of it. */
  readonly honest: number;
  readonly whole: number;
  /** Ms from the start until half of them, 99 in 100, and the last had all of it. */
  readonly median: number;
  readonly p99: number;
  readonly last: number;
  /** How often the source served a piece. */
  readonly sourceMean: number;
  readonly sourceMost: number;
  /** Of the pieces that hosts sent each other, the share that came from the same rack, the same region, and elsewhere. */
  readonly near: readonly [number, number, number];
  /** What hosts threw away since it did not fit. */
  readonly lies: number;
  readonly decisions: number;
  readonly violations: readonly string[];
}
