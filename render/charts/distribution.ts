import { percent } from '../words';
import { axis, type Scale } from './scale';
import { element, LEFT, rule, RIGHT, svg, textAt, WIDTH } from './svg';

const [TOP, PLOT, FOOT] = [8, 180, 26] as const;
const SHARES = [0, 0.25, 0.5, 0.75, 1] as const;

/** The cumulative distribution of the values, as steps. @param values in order */
export function distribution(
  says: string,
  values: readonly number[],
  scale: Scale,
  words: (value: number) => string,
): string {
  const yOf = (share: number): number => TOP + (1 - share) * PLOT;
  const steps = values.map((value, nth) => `H${round(scale.at(value))}V${round(yOf((nth + 1) / values.length))}`);
  const path = `M${LEFT} ${yOf(0)}${steps.join('')}H${WIDTH - RIGHT}`;
  const levels = SHARES.map(
    (share) =>
      rule(LEFT, yOf(share), WIDTH - RIGHT, yOf(share), 'grid') +
      textAt(LEFT - 12, yOf(share) + 4, percent(share), { class: 'name' }),
  );
  const axes = element('g', { transform: `translate(0 ${TOP})` }, axis(scale, PLOT, words));
  return svg(TOP + PLOT + FOOT, says, ...levels, axes, element('path', { d: path, class: 'curve' }));
}

const round = (pixels: number): number => Math.round(pixels * 10) / 10;
