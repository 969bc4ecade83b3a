import type { ChangeAmount, Bound } from './bound';
import { changeBound } from './change';
import { limitBound } from './limit';

/** The value under each key of a `threshold`, after parsing. */
export interface ThresholdValues {
  readonly above: number;
  readonly below: number;
  readonly increase: ChangeAmount;
  readonly decrease: ChangeAmount;
}

export type ThresholdKind = keyof ThresholdValues;

/** A threshold as services receive it: either all of its kinds compare, or none does. */
export type Threshold = { readonly [K in ThresholdKind]?: ThresholdValues[K] };

interface Row<V> {
  /** It needs `compare`, and may be judged by ranks. */
  readonly compares: boolean;
  readonly boundsOf: (value: V) => readonly Bound[];
}

/** Each kind of threshold is one row; its schema is a line of `THRESHOLD_VALUES` in domain/spec/healthFields.ts. */
const THRESHOLDS: { readonly [K in ThresholdKind]: Row<ThresholdValues[K]> } = {
  above: { compares: false, boundsOf: (limit) => [limitBound('above', limit)] },
  below: { compares: false, boundsOf: (limit) => [limitBound('below', limit)] },
  increase: { compares: true, boundsOf: (allowed) => [changeBound('increase', allowed)] },
  decrease: { compares: true, boundsOf: (allowed) => [changeBound('decrease', allowed)] },
};

const THRESHOLD_KINDS = Object.keys(THRESHOLDS) as ThresholdKind[];

/** The kinds that compare with nothing. */
export const LIMITS: readonly ThresholdKind[] = THRESHOLD_KINDS.filter((kind) => !THRESHOLDS[kind].compares);
/** The kinds that need `compare`. */
export const CHANGES: readonly ThresholdKind[] = THRESHOLD_KINDS.filter((kind) => THRESHOLDS[kind].compares);

/** The bounds of a threshold, in the order of its keys; at least one. */
export const listBounds = (threshold: Threshold): readonly Bound[] =>
  Object.entries(threshold).flatMap(([kind, value]) =>
    (THRESHOLDS[kind as ThresholdKind] as Row<unknown>).boundsOf(value),
  );

/** Whether bounds that compare with nothing exclude every value. */
export function refusesAll(bounds: readonly Bound[]): boolean {
  const isWithin = (observed: number): boolean =>
    bounds.every((bound) => {
      const measured = { observed, reference: undefined, zeroBaseline: undefined };
      return bound.judge(measured, '').verdict === 'healthy';
    });
  return !bounds.some(({ written }) => isWithin(written));
}
