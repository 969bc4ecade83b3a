import { hashWords } from './hashPlace';

export const FIRST_CAPACITY = 1024;

/**
 * The names of all hosts, their labels, and when they called last, in a few arrays: a million JavaScript objects would need ten times the memory. A host
 * keeps its index for ever; the indexes follow the order in which hosts joined.
 */
export class HostTable {
  count = 0;
  /** The words of the hash of each name. */
  high = new Uint32Array(FIRST_CAPACITY);
  low = new Uint32Array(FIRST_CAPACITY);
  /** The number of the set of labels of each host. */
  labels = new Uint16Array(FIRST_CAPACITY);
  /** Seconds from `epochMs` to the last message; 0 if there was none since this process began. */
  calledAt = new Uint32Array(FIRST_CAPACITY);
  /** The last time in which it was silent, in the same seconds; 0 if there was none. */
  awayFrom = new Uint32Array(FIRST_CAPACITY);
  awayUntil = new Uint32Array(FIRST_CAPACITY);
  /** 1 if the host is no longer listed. */
  gone = new Uint8Array(FIRST_CAPACITY);
  private starts = new Uint32Array(FIRST_CAPACITY + 1);
  private names = Buffer.alloc(FIRST_CAPACITY * 16);
  /** Index + 1 of the host in each place; 0 is free. */
  private places = new Uint32Array(FIRST_CAPACITY * 2);

  /** @returns the index of a host, or -1 */
  find(name: string): number {
    const [high, low] = hashWords(name);
    for (let place = high % this.places.length; ; place = (place + 1) % this.places.length) {
      const index = (this.places[place] ?? 0) - 1;
      if (index === -1) return -1;
      if (this.high[index] === high && this.low[index] === low && this.nameHost(index) === name) return index;
    }
  }

  /** Adds a host that is not there. @returns its index */
  add(name: string, labels: number): number {
    if (this.count >= this.high.length) this.grow();
    const index = this.count;
    const [high, low] = hashWords(name);
    const from = this.starts[index] ?? 0;
    if (from + name.length > this.names.length)
      this.names = Buffer.concat([this.names], Math.ceil((from + name.length) * 1.3));
    this.starts[index + 1] = from + this.names.write(name, from, 'latin1');
    [this.high[index], this.low[index], this.labels[index]] = [high, low, labels];
    this.count += 1;
    this.put(index);
    return index;
  }

  nameHost(index: number): string {
    return this.names.toString('latin1', this.starts[index], this.starts[index + 1]);
  }

  /** The bytes of its arrays. */
  get bytes(): number {
    const { high, low, labels, calledAt, awayFrom, awayUntil, gone, starts, names, places } = this;
    const arrays = [high, low, labels, calledAt, awayFrom, awayUntil, gone, starts, names, places];
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  private put(index: number): void {
    let place = (this.high[index] ?? 0) % this.places.length;
    while (this.places[place] !== 0) place = (place + 1) % this.places.length;
    this.places[place] = index + 1;
  }

  private grow(): void {
    const capacity = growCapacity(this.high.length);
    this.high = widen(this.high, new Uint32Array(capacity));
    this.low = widen(this.low, new Uint32Array(capacity));
    this.labels = widen(this.labels, new Uint16Array(capacity));
    this.calledAt = widen(this.calledAt, new Uint32Array(capacity));
    this.awayFrom = widen(this.awayFrom, new Uint32Array(capacity));
    this.awayUntil = widen(this.awayUntil, new Uint32Array(capacity));
    this.gone = widen(this.gone, new Uint8Array(capacity));
    this.starts = widen(this.starts, new Uint32Array(capacity + 1));
    this.places = new Uint32Array(Math.ceil(capacity * 1.5));
    for (let index = 0; index < this.count; index += 1) this.put(index);
  }
}

export const growCapacity = (capacity: number): number => Math.ceil(capacity * 1.3);

/** The larger array, with the content of the smaller one. */
export function widen<A extends Uint8Array | Uint16Array | Uint32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
