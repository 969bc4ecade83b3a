import type { RankTest } from './mannWhitney';
import type { Verdict } from './verdict';

/** A bound held against numbers. */
export interface Judgement {
  readonly verdict: Verdict;
  /** The limit in the unit of the observed value; null when there is none. */
  readonly limit: number | null;
  /** What follows the check's name: "is 0.21, above the limit of 0.05". */
  readonly text: string;
  /** Where ranks were compared. */
  readonly test?: RankTest;
}

/** How a change from zero counts, which has no percentage. */
export type ZeroBaseline = 'healthy' | 'unhealthy' | 'absolute' | undefined;

/** What was measured, reduced to one number a side. */
export interface Measured {
  readonly observed: number;
  /** Of what the check compares with; undefined when it compares with nothing. */
  readonly reference: number | undefined;
  readonly zeroBaseline: ZeroBaseline;
}

/** How far something may move: by a share of what it was, or by an amount in the unit of the metric. */
export type ChangeAmount = { readonly percent: number } | { readonly absolute: number };

/** One bound of a threshold. A check is unhealthy beyond any of its bounds, never on them. */
export interface Bound {
  /** The key in the pipeline file. */
  readonly kind: string;
  /** 1 when higher values are beyond it, -1 when lower ones are. */
  readonly sign: 1 | -1;
  /** The number as the file has it, without `%`. */
  readonly written: number;
  /** What the written number is multiplied by to be a distance. */
  readonly scale: 1 | -1;
  /** No change of less than this distance can be written. */
  readonly lowest: number;
  /**
   * How far it may be from what it is compared with, in proportion to `written`, by which ranks are tuned; undefined of a bound that
   * compares with nothing.
   */
  readonly allowed: ChangeAmount | undefined;
  /** `whom` names what it is compared with: "the 3 tasks not yet updated". */
  judge(measured: Measured, whom: string): Judgement;
  /** What is beyond it, as `conveyor plan` words it: `more than 15% above the tasks not yet updated`. */
  describe(whom: string): string;
  /** Another number in the place of the written one, as in a pipeline file: `increase: 15%`. */
  rewrite(limit: number): string;
  /** How far a measurement went its way: it is beyond at more than `scale * written`. Undefined where that cannot be said. */
  distance(measured: Measured): number | undefined;
}

/** Four significant digits, without the noise behind them: `0.2133`, `12`, `1250000`. */
export function formatValue(value: number): string {
  return String(Math.abs(value) >= 10_000 ? Math.round(value) : Number(value.toPrecision(4)));
}
