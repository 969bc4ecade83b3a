import type { Breakdown } from '../../../domain/stats/report';
import { drawStackedBars } from '../../../render/charts/stackedBars';

const WORDS = Array.from({ length: 10 }, (_, nth) => `cause ${nth}`);
const row = (category: string, counts: readonly number[]): Breakdown => ({
  category,
  whole: counts.reduce((sum, count) => sum + count, 0),
  counts: Object.fromEntries(WORDS.map((word, nth) => [word, counts[nth] ?? 0])),
});
const frequent = [9, 8, 7, 6, 5, 4, 3];

test('rare parts are drawn together as others, also where the first row has none, so that each bar is whole', () => {
  const rows = [row('large', frequent), row('regular', [...frequent, 2, 3, 4])];
  const { svg, legend } = drawStackedBars('ends', rows, () => '');
  expect(legend.at(-1)).toEqual({ word: 'others', color: 'others' });
  expect(svg).toContain('regular: others 17.6%');
  expect(svg).not.toContain('large: others');
  const widths = [...svg.matchAll(/<rect [^>]*width="([\d.]+)"/g)].map(([, width]) => Number(width));
  const bar = widths.slice(0, 7).reduce((sum, width) => sum + width, 0);
  expect(widths.slice(7).reduce((sum, width) => sum + width, 0)).toBeCloseTo(bar, 0);
});
