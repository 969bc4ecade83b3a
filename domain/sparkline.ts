const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/**
 * Values as bars, oldest first: `▁▁▂▆█`. The scale runs from the lowest to the highest value, and includes the limit if
 * there is one, so that values far from the limit look calm. Empty for fewer than two values.
 */
export function sparkline(values: readonly number[], limit: number | null): string {
  const finite = values.filter(Number.isFinite);
  if (finite.length < 2) return '';
  const all = limit === null || !Number.isFinite(limit) ? finite : [...finite, limit];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const barOf = (value: number): string =>
    BARS[high === low ? 0 : Math.round(((value - low) / (high - low)) * (BARS.length - 1))] ?? BARS[0];
  return finite.map(barOf).join('');
}
