/** The number of parts for `pass` and for shares of users. */
export const PARTS = 1_000_000;

const TWO_TO_32 = 2 ** 32;

/**
 * The part, 0 … 999,999, of a text, by MurmurHash3 (32 bits) of its UTF-8. flagd's `fractional` computes the same, so both select the same
 * users.
 */
export const computeBucket = (text: string): number => Math.floor((murmur3(text) * PARTS) / TWO_TO_32);

/** The key for sampling a project. */
export const sampleKey = (project: string, user: string): string => `${project}/${user}`;

/** The key for a `bucket`. It differs from all sampling keys of projects, whose names have no colon. */
export const bucketKey = (salt: string, user: string): string => `${salt}:${user}`;

/** A share as parts. */
export const toParts = (share: number): number => Math.round(share * PARTS);

export function murmur3(text: string): number {
  let hash = 0;
  let block = 0;
  let bytes = 0;
  const add = (byte: number): void => {
    block |= byte << ((bytes & 3) * 8);
    bytes += 1;
    if ((bytes & 3) > 0) return;
    hash = Math.imul(rotate(hash ^ scramble(block), 13), 5) + 0xe6546b64;
    block = 0;
  };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x80) add(code);
    else at += addBeyondAscii(text.codePointAt(at) ?? 0, add);
  }
  return finish(hash ^ scramble(block) ^ bytes);
}

/** @returns the number of further units of the text that it consumed. */
function addBeyondAscii(point: number, add: (byte: number) => void): 0 | 1 {
  // Half of a surrogate pair is not a character: UTF-8 has U+FFFD in its place.
  const code = point >= 0xd800 && point <= 0xdfff ? 0xfffd : point;
  const length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  add(((0xf00 >> length) & 0xff) | (code >> (6 * (length - 1))));
  for (let rest = length - 2; rest >= 0; rest -= 1) add(0x80 | ((code >> (6 * rest)) & 0x3f));
  return length === 4 ? 1 : 0;
}

const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by));
const scramble = (block: number): number => Math.imul(rotate(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);

function finish(hash: number): number {
  let value = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
