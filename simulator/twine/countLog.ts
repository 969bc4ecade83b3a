/** A count that changes over time, with its whole history. */
export interface CountLog {
  readonly at: number[];
  readonly count: number[];
}

export const countLog = (at: number, count: number): CountLog => ({ at: [at], count: [count] });

export const currentCount = (log: CountLog): number => log.count.at(-1) ?? 0;

export function setCount(log: CountLog, at: number, count: number): void {
  if (log.at.at(-1) === at) log.count[log.count.length - 1] = count;
  else {
    log.at.push(at);
    log.count.push(count);
  }
}

/** The count at a time; before the earliest entry, that entry's count. */
export function countAt(log: CountLog, at: number): number {
  let [low, high] = [0, log.at.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((log.at[middle] ?? Infinity) <= at) low = middle + 1;
    else high = middle;
  }
  return log.count[Math.max(0, low - 1)] ?? 0;
}
