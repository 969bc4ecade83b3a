/** Items in portions of a given size; the last may be smaller. */
export async function* splitPortions<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<readonly T[]> {
  let portion: T[] = [];
  for await (const item of items) {
    portion.push(item);
    if (portion.length < size) continue;
    yield portion;
    portion = [];
  }
  if (portion.length > 0) yield portion;
}
