/**
 * A number from 0 up to, but not including, 2^32 for each input, in an order that differs for each seed: each host begins with different
 * pieces.
 */
export function scatter(seed: number, number: number): number {
  let value = seed ^ Math.imul(number + 1, 0x9e3779b1);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
