import type { Host } from './host';
import type { SwarmOptions } from './options';
import { digestOfPiece } from './network';

/** The most times that a source serves a piece within a period, for all hosts together (docs/design/config.md#packages). */
const [MOST, WITHIN_MS] = [2, 5000];

/** Checks, with its own records, what no swarm may do under any failure. */
export class SwarmCheckers {
  readonly violations: string[] = [];
  private readonly served = new Map<number, number[]>();

  constructor(private readonly options: SwarmOptions) {}

  /** The source serves a piece. */
  serves(piece: number, now: number): void {
    const before = (this.served.get(piece) ?? []).filter((at) => now - at < WITHIN_MS);
    if (before.length >= MOST) this.violates(`the source served piece ${piece} ${before.length + 1} times within 5 s`);
    this.served.set(piece, [...before, now]);
  }

  /** A host reports that it has the whole package. */
  isWhole({ id, disk }: Host): void {
    const wrong = disk.findIndex((kept, piece) => kept !== digestOfPiece(piece));
    if (wrong >= 0) this.violates(`${id} takes the package for whole, and piece ${wrong} does not fit its digest`);
  }

  /** Nothing more happens, or the time is up. */
  ends(hosts: readonly Host[]): void {
    const left = hosts.filter(({ isLiar, goneAt, wholeAt }) => !isLiar && goneAt === Infinity && wholeAt === Infinity);
    const [first] = left;
    if (first)
      this.violates(
        `${left.length} hosts are not whole after ${this.options.untilMs} ms, such as ${first.id} with ${first.count} pieces`,
      );
  }

  private violates(what: string): void {
    if (this.violations.length < 20) this.violations.push(what);
  }
}
