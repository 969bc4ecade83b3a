/**
 * Colours of parts, as classes of the page's style: `good`, `bad` and shades of `quiet` for words with these meanings,
 * and the other colours in turn for the rest.
 */
export function assignColors(words: readonly string[]): ReadonlyMap<string, string> {
  const colors = new Map<string, string>();
  const next = { plain: 0, quiet: 0 };
  for (const word of words) {
    if (word === OTHERS) colors.set(word, 'others');
    else if (word === 'succeeded') colors.set(word, 'good');
    else if (word === 'failed') colors.set(word, 'bad');
    else if (word.startsWith('cancelled')) colors.set(word, `quiet${next.quiet++ % QUIET}`);
    else colors.set(word, `color${next.plain++ % MOST_COLORS}`);
  }
  return colors;
}

/** The common name of the parts beyond the number of colours. */
export const OTHERS = 'others';
export const MOST_COLORS = 8;
const QUIET = 4;
