import { setImmediate } from 'node:timers/promises';
import { SharedReader } from '../../server/sharedRead';

const FRESH_MS = 10_000;
const KEPT_MS = 60_000;

/** A read that ends when the test says so. */
function sharedWorld() {
  const reads: { readonly answer: (text: string) => void; readonly fail: (error: Error) => void }[] = [];
  const clock = { ms: 0 };
  const look = (): Promise<string> => new Promise((answer, fail) => reads.push({ answer, fail }));
  const shared = new SharedReader(look, FRESH_MS, () => clock.ms);
  /** The first answer, which is then `ageMs` old. */
  const keepFirst = async (ageMs: number): Promise<void> => {
    const first = shared.readKept(KEPT_MS);
    reads[0]?.answer('first');
    expect(await first).toEqual({ answer: 'first', atMs: 0, isOld: false, problem: undefined });
    clock.ms = ageMs;
  };
  return { reads, clock, shared, keepFirst };
}

test('a kept answer is given at once while it is read again, once for all readers', async () => {
  const { reads, clock, shared, keepFirst } = sharedWorld();
  await keepFirst(FRESH_MS);
  const old = { answer: 'first', atMs: 0, isOld: true, problem: undefined };
  expect([await shared.readKept(KEPT_MS), await shared.readKept(KEPT_MS)]).toEqual([old, old]);
  await setImmediate();
  expect(await shared.readKept(KEPT_MS)).toEqual(old);
  await setImmediate();
  expect(reads).toHaveLength(2);
  reads[1]?.answer('second');
  await setImmediate();
  clock.ms += 1_000;
  expect(await shared.readKept(KEPT_MS)).toEqual({ ...old, answer: 'second', atMs: FRESH_MS, isOld: false });
});

test('a young answer is not read again', async () => {
  const { reads, shared, keepFirst } = sharedWorld();
  await keepFirst(FRESH_MS - 1);
  expect(await shared.readKept(KEPT_MS)).toMatchObject({ answer: 'first', isOld: false });
  await setImmediate();
  expect(reads).toHaveLength(1);
});

test('the reader learns why an old answer could not be read again, until one is', async () => {
  const { reads, clock, shared, keepFirst } = sharedWorld();
  await keepFirst(FRESH_MS);
  await shared.readKept(KEPT_MS);
  await setImmediate();
  const error = new Error('away');
  reads[1]?.fail(error);
  await setImmediate();
  expect(await shared.readKept(KEPT_MS)).toEqual({ answer: 'first', atMs: 0, isOld: true, problem: error });
  await setImmediate();
  expect(reads).toHaveLength(2);
  clock.ms += FRESH_MS;
  await shared.readKept(KEPT_MS);
  await setImmediate();
  reads[2]?.answer('third');
  await setImmediate();
  expect(await shared.readKept(KEPT_MS)).toMatchObject({ answer: 'third', isOld: false, problem: undefined });
});

test('an answer that is too old is waited for, and its error is that of the reader', async () => {
  const { reads, shared, keepFirst } = sharedWorld();
  await keepFirst(KEPT_MS);
  const next = shared.readKept(KEPT_MS);
  reads[1]?.fail(new Error('away'));
  await expect(next).rejects.toThrow('away');
});
