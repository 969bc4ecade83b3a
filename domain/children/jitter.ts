/**
 * How long after the others may begin a child waits, in ms: at least 0, less than the jitter. It follows from the names
 * alone, so that a replay, a retry and a second look all agree, and another release of the parent gives another order.
 */
export const jitterOf = (parent: string, child: string, jitterMs: number): number =>
  Math.floor((hash(`${parent} ${child}`) / 2 ** 32) * jitterMs);

/** FNV-1a with 32 bits, and the finaliser of MurmurHash3: names that differ in their last digit end up far apart. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
