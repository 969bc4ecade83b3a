import type { State } from '../../../sdk/updates';
import { computePlace, hashWords } from './hashPlace';

/** Decisions about the hosts of a unit, as rules: no list of hosts is stored. Pure. */

/** The part of an update in one unit, as the rule by which it takes hosts. */
export interface RolloutDecision {
  /** The serial of the server at that time: higher than that of every earlier decision. */
  readonly generation: number;
  readonly update: string;
  readonly unit: string;
  /** Empty for a removal. */
  readonly version: string;
  readonly removes?: true;
  /** The hash of a host is taken with this. */
  readonly salt: string;
  /** It takes the hosts whose place is not higher; 1 takes all, -1 none. */
  readonly threshold: number;
  /**
   * A partial amount is chosen from the hosts that are there: it takes those that are silent at the time `at` (ms since the epoch), and return later, only up to the
   * place `away`. Undefined: it makes no difference between them.
   */
  readonly at?: number;
  readonly away?: number;
  /** It takes only hosts with a lower index: those that had joined by then. */
  readonly below: number;
  /** It sets the version of the unit, so it takes hosts that join later, too. */
  readonly whole: boolean;
  /** The generations whose hosts it takes back, in a revert. */
  readonly undoes: readonly number[];
  /** The generations whose hosts it leaves alone. */
  readonly except: readonly number[];
  /** The generations of the same version that did not end well: it tries their hosts again. */
  readonly again: readonly number[];
  /** The version may be older than the one that hosts run. */
  readonly revert: boolean;
  /** The hosts that it has to bring to the version, and those in its reach that were there before it. */
  readonly targeted: number;
  readonly already: number;
}

/** A package whose bytes are known. */
export interface KnownPackage {
  readonly uri: string;
  readonly digest: string;
  readonly size: number;
}

/** The memory of the sdk with the decisions of this push type. */
export interface SlowrollState extends State {
  /** Grows with each decision, also when the memory was lost. */
  serial?: number;
  /** By unit, oldest first. */
  decisions?: Record<string, RolloutDecision[]>;
  /** By package and version. */
  packages?: Record<string, Record<string, KnownPackage>>;
  /** Versions by their number, which the tags of manifests contain. */
  versions?: string[];
}

/** The salt of a release; a sticky package has the same one for ever. */
export const nameSalt = (packageName: string, release: string | null): string =>
  release === null ? packageName : `${packageName} ${release}`;

const saltWords = new Map<string, readonly [number, number]>();
const MOST_SALTS = 1000;

function readSalt(salt: string): readonly [number, number] {
  const known = saltWords.get(salt);
  if (known !== undefined) return known;
  if (saltWords.size >= MOST_SALTS) saltWords.clear();
  const words = hashWords(salt, 1);
  saltWords.set(salt, words);
  return words;
}

/** A host as rules see it. Scans of all hosts move one cursor. */
export class HostCursor {
  index = 0;
  private high = 0;
  private low = 0;
  private salt = '';
  private place = 0;

  /** @param isAway whether the host of an index was silent at a time, in ms since the epoch, as far as this process knows */
  constructor(private readonly isAway: (index: number, at: number) => boolean = () => false) {}

  moveTo(index: number, high: number, low: number): this {
    // Passes over a million hosts call it: one statement each makes no arrays.
    this.index = index;
    this.high = high;
    this.low = low;
    this.salt = '';
    return this;
  }

  /** Whether it was silent at a time. */
  wasAway(at: number): boolean {
    return this.isAway(this.index, at);
  }

  /** Where the host stands among all: a number from 0 to below 1. */
  findPlace(salt: string): number {
    if (this.salt === salt) return this.place;
    const [high, low] = readSalt(salt);
    this.salt = salt;
    this.place = computePlace(this.high, this.low, high, low);
    return this.place;
  }
}

/** Whether the place of a host, and the time at which it joined, are within a decision. */
export const isWithinRule = (decision: RolloutDecision, host: HostCursor): boolean =>
  (decision.whole || host.index < decision.below) && (decision.threshold >= 1 || isWithinThreshold(decision, host));

function isWithinThreshold({ salt, threshold, at, away = threshold }: RolloutDecision, host: HostCursor): boolean {
  const place = host.findPlace(salt);
  const [isHere, isBack] = [place <= threshold, place <= away];
  // Most hosts are within both thresholds or neither, and are not looked up.
  return isHere === isBack || at === undefined ? isHere : host.wasAway(at) ? isBack : isHere;
}

/** Whether a decision takes a host whose last decision is `current`. `isReserved` says whether an exception holds it. */
export function takesHost(
  decision: RolloutDecision,
  host: HostCursor,
  current: RolloutDecision | undefined,
  isReserved: (generation: number) => boolean,
): boolean {
  if (current !== undefined && current.generation >= decision.generation) return false;
  if (decision.except.some((generation) => current?.generation === generation || isReserved(generation))) return false;
  if (current === undefined && decision.whole) return true;
  if (decision.undoes.length > 0)
    return current !== undefined && decision.undoes.includes(current.generation) && isWithinRule(decision, host);
  if (decision.removes) return true;
  if (current !== undefined && !decision.whole && !current.removes && current.version === decision.version)
    if (!decision.again.includes(current.generation)) return false;
  return isWithinRule(decision, host);
}
