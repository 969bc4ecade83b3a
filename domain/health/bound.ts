import type { RankTest } from './mannWhitney';
import type { Verdict } from './verdict';

/** The result of comparing a bound with measurements. */
export interface Judgement {
  readonly verdict: Verdict;
  /** The limit in the unit of the observed value; null if there is none. */
  readonly limit: number | null;
  /** The text after the name of the check: "is 0.21, above the limit of 0.05". */
  readonly text: string;
  /** Present if ranks were compared. */
  readonly test?: RankTest;
}

/** The treatment of a change from zero, which has no percentage. */
export type ZeroBaseline = 'healthy' | 'unhealthy' | 'absolute' | undefined;

/** The measurements, reduced to one number per side. */
export interface MeasurementPair {
  readonly observed: number;
  /** The value that the check compares with; undefined if it compares with nothing. */
  readonly reference: number | undefined;
  readonly zeroBaseline: ZeroBaseline;
}

/** The allowed change: a share of the earlier value, or an amount in the unit of the metric. */
export type ChangeAmount = { readonly percent: number } | { readonly absolute: number };

/** One bound of a threshold. A check is unhealthy beyond any of its bounds, never on them. */
export interface Bound {
  /** The key in the pipeline file. */
  readonly kind: string;
  /** 1 if higher values are beyond it, -1 if lower ones are. */
  readonly sign: 1 | -1;
  /** The number as the file has it, without `%`. */
  readonly written: number;
  /** The factor that turns the written number into a distance. */
  readonly scale: 1 | -1;
  /** A change smaller than this distance cannot be written. */
  readonly lowest: number;
  /**
   * The allowed distance from the value that it is compared with, in proportion to `written`, by which ranks are tuned. Undefined for a
   * bound that compares with nothing.
   */
  readonly allowed: ChangeAmount | undefined;
  /** `whom` names the group that it is compared with: "the 3 tasks not yet updated". */
  judge(measured: MeasurementPair, whom: string): Judgement;
  /** The region beyond it, in the words of `conveyor plan`: `more than 15% above the tasks not yet updated`. */
  describe(whom: string): string;
  /** The bound with another number, as in a pipeline file: `increase: 15%`. */
  rewrite(limit: number): string;
  /**
   * The distance of a measurement in the direction of the bound; it is beyond if that exceeds `scale * written`. Undefined if there
   * is no such distance.
   */
  distance(measured: MeasurementPair): number | undefined;
}

/** Four significant digits, without the noise behind them: `0.2133`, `12`, `1250000`. */
export function formatValue(value: number): string {
  return String(Math.abs(value) >= 10_000 ? Math.round(value) : Number(value.toPrecision(4)));
}
