import { LEFT, rule, RIGHT, textAt, WIDTH } from './svg';

/** The position of a value on a horizontal axis. */
export interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

const onAxis = (share: number): number => LEFT + Math.min(1, Math.max(0, share)) * (WIDTH - LEFT - RIGHT);

/** From 0 to a round number above all of them. */
export function linearScale(values: readonly number[]): Scale {
  const most = Math.max(...values, 0);
  const step = roundStep(most / 4);
  const top = Math.max(1, Math.ceil(most / step - 1e-9)) * step;
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, nth) => nth * step);
  return { at: (value) => onAxis(value / top), ticks };
}

/** A logarithmic scale. @param marks well-known values, of which those on the axis are shown */
export function logScale(values: readonly number[], marks: readonly number[]): Scale {
  const known = values.filter((value) => value > 0);
  const low = marks.findLast((mark) => mark <= Math.min(...known)) ?? marks[0] ?? 1;
  const high = marks.find((mark) => mark >= Math.max(...known) && mark > low) ?? marks.at(-1) ?? 1;
  const span = Math.log(high / low);
  return {
    at: (value) => onAxis(value <= 0 ? 0 : Math.log(value / low) / span),
    ticks: marks.filter((mark) => mark >= low && mark <= high),
  };
}

/** Thin lines with their values below. */
export const axis = ({ at, ticks }: Scale, height: number, words: (value: number) => string): string =>
  ticks
    .map(
      (tick) =>
        rule(at(tick), 0, at(tick), height, 'grid') + textAt(at(tick), height + 16, words(tick), { class: 'tick' }),
    )
    .join('');

/** 1, 2 or 5 times a power of ten. */
function roundStep(least: number): number {
  if (least <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5, 10].find((times) => times * power >= least) ?? 10) * power;
}
