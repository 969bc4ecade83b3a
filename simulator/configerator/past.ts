/** The answers of a cell and their start: one entry each, in the order of time, including the present one. */
export interface HostPast {
  count: number;
  cell: Int32Array;
  answer: Int32Array;
  /** Index + 1 of the entry before it of the same cell. */
  previous: Int32Array;
  /** ms since the epoch. */
  from: Float64Array;
}

/** At least this many entries are kept, … */
const LEAST = 100_000;
/** … or this many for each cell, if that is more. */
const EACH = 4;

export const emptyPast = (): HostPast => ({ count: 0, ...columns(0) });

/** Records a cell's new answer. If there are too many entries, the older half is forgotten. */
export function rememberAnswer(
  past: HostPast,
  latest: Int32Array,
  cells: number,
  entry: { cell: number; answer: number; from: number },
): void {
  if (past.count === past.cell.length) {
    if (past.count >= Math.max(LEAST, EACH * cells)) forgetHalf(past, latest);
    else enlarge(past, Math.max(1024, Math.min(2 * past.count, Math.max(LEAST, EACH * cells))));
  }
  const index = past.count;
  past.count += 1;
  past.cell[index] = entry.cell;
  past.answer[index] = entry.answer;
  past.from[index] = entry.from;
  past.previous[index] = latest[entry.cell] ?? 0;
  latest[entry.cell] = index + 1;
}

/** The answer that a cell had at a time; undefined if that is not known. */
export function answerAt(past: HostPast, latest: Int32Array, cell: number, at: number): number | undefined {
  for (let next = latest[cell] ?? 0; next > 0; next = past.previous[next - 1] ?? 0)
    if ((past.from[next - 1] ?? 0) <= at) return past.answer[next - 1];
  return undefined;
}

function enlarge(past: HostPast, size: number): void {
  const larger = columns(size);
  for (const key of ['cell', 'answer', 'previous', 'from'] as const) larger[key].set(past[key]);
  Object.assign(past, larger);
}

/** The present answer of a cell is never forgotten. */
function forgetHalf(past: HostPast, latest: Int32Array): void {
  const half = past.count >> 1;
  const kept: number[] = [];
  for (let index = 0; index < past.count; index += 1)
    if (index >= half || latest[past.cell[index] ?? 0] === index + 1) kept.push(index);
  latest.fill(0);
  kept.forEach((from, to) => {
    const cell = past.cell[from] ?? 0;
    past.cell[to] = cell;
    past.answer[to] = past.answer[from] ?? 0;
    past.from[to] = past.from[from] ?? 0;
    past.previous[to] = latest[cell] ?? 0;
    latest[cell] = to + 1;
  });
  past.count = kept.length;
}

const columns = (size: number) => ({
  cell: new Int32Array(size),
  answer: new Int32Array(size),
  previous: new Int32Array(size),
  from: new Float64Array(size),
});
