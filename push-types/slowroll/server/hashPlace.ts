/** Numbers that are made from names: where a host stands in a release. Not for secrets. */

/** Two words of 32 bits of a text (cyrb53 by bryc, in the public domain). */
export function hashWords(text: string, seed = 0): readonly [number, number] {
  let one = 0xdeadbeef ^ seed;
  let other = 0x41c6ce57 ^ seed;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    one = Math.imul(one ^ code, 0x9e3779b1);
    other = Math.imul(other ^ code, 0x5f356495);
  }
  const [first, second] = [blendWords(one, other), blendWords(other, one)];
  return [first >>> 0, second >>> 0];
}

const blendWords = (one: number, other: number): number =>
  Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);

/** A number from 0 to below 1 for a host and a salt, both as words. It has 53 bits, so that no two hosts of a fleet share one. */
export function computePlace(hostHigh: number, hostLow: number, saltHigh: number, saltLow: number): number {
  const high = mixWord(hostHigh ^ saltHigh);
  const low = mixWord(hostLow ^ saltLow ^ high);
  return ((mixWord(high ^ Math.imul(low, 0x9e3779b1)) >>> 0) * 2 ** 21 + (low >>> 11)) / 2 ** 53;
}

function mixWord(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) | 0;
}
