/** An event due at a time (ms since the epoch); `seq` keeps events of the same moment in the order of scheduling. */
export interface Due<E> {
  readonly at: number;
  readonly seq: number;
  readonly event: E;
}

const before = (a: Due<unknown>, b: Due<unknown>): boolean => a.at < b.at || (a.at === b.at && a.seq < b.seq);

/** Adds to a binary heap kept in a plain array. */
export function pushDue<E>(heap: Due<E>[], due: Due<E>): void {
  let index = heap.length;
  heap.push(due);
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = heap[parentIndex];
    if (parent === undefined || !before(due, parent)) break;
    heap[index] = parent;
    heap[parentIndex] = due;
    index = parentIndex;
  }
}

/** Takes the earliest event out of the heap. */
export function popDue<E>(heap: Due<E>[]): Due<E> | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    const child = smallerChild(heap, index);
    if (child === undefined || !before(child.due, last)) break;
    heap[index] = child.due;
    index = child.index;
  }
  heap[index] = last;
  return first;
}

function smallerChild<E>(heap: readonly Due<E>[], index: number): { due: Due<E>; index: number } | undefined {
  const left = heap[2 * index + 1];
  const right = heap[2 * index + 2];
  if (left === undefined) return undefined;
  return right !== undefined && before(right, left)
    ? { due: right, index: 2 * index + 2 }
    : { due: left, index: 2 * index + 1 };
}
