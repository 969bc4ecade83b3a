/** State of one stream: four 32-bit words of sfc32. Plain data, so that a world can be saved. */
export type StreamState = [number, number, number, number];

/** A 32-bit hash of a text (FNV-1a with a final mix). */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mix(hash);
}

/** Spreads the bits of an integer; the base of noise without state. */
function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** A number in [0, 1) that depends only on the given integers. */
export function noise(a: number, b: number, c: number, d: number): number {
  return mix(mix(mix(mix(a) + b) + c) + d) / 0x1_0000_0000;
}

/** A fresh stream from a seed. Each use of randomness has its own name, so a new one does not shift the others. */
export function openStream(seed: number, name: string): StreamState {
  const base = hashText(name);
  const state: StreamState = [mix(seed), base, mix(base + seed), 1];
  for (let i = 0; i < 12; i += 1) draw(state);
  return state;
}

/** The next number in [0, 1) of a stream (sfc32). */
export function draw(state: StreamState): number {
  const [a, b, c, counter] = state;
  const sum = (((a + b) | 0) + counter) | 0;
  state[0] = b ^ (b >>> 9);
  state[1] = (c + (c << 3)) | 0;
  state[2] = (((c << 21) | (c >>> 11)) + sum) | 0;
  state[3] = (counter + 1) | 0;
  return (sum >>> 0) / 0x1_0000_0000;
}
