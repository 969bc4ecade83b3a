/** The normal distribution, to about fifteen digits. */

const ENOUGH_TERMS = 200;
/** Beyond this, the series loses digits that the fraction keeps. */
const TAIL = 3;

const density = (z: number): number => Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);

/** The probability of a value below `z`. */
export function normalBelow(z: number): number {
  if (z > 0) return 1 - normalBelow(-z);
  return z < -TAIL ? density(z) * normalTail(-z) : 0.5 + density(z) * centre(z);
}

/** The value below which the share `p` of all values lies, `0 < p < 1`. */
export function normalQuantile(p: number): number {
  let [low, high] = [-40, 40];
  // The interval of 80 is halved until its ends are adjacent numbers, in fewer than sixty steps.
  for (let step = 0; step < 64; step += 1) {
    const middle = (low + high) / 2;
    if (normalBelow(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** `z + z³/3 + z⁵/15 + …`, the area between 0 and `z` divided by the density. */
function centre(z: number): number {
  let [term, total] = [z, z];
  for (let n = 1; n < ENOUGH_TERMS && Math.abs(term) > Number.EPSILON * Math.abs(total); n += 1) {
    term *= (z * z) / (2 * n + 1);
    total += term;
  }
  return total;
}

/** `1/(z + 1/(z + 2/(z + …)))`, the area beyond `z` divided by the density (Mills). */
function normalTail(z: number): number {
  let fraction = z;
  for (let n = ENOUGH_TERMS; n > 0; n -= 1) fraction = z + n / fraction;
  return 1 / fraction;
}
