import { SharedReads } from '../../activities/sharedReads';

/** Reads that end when the test says so. */
function givenReads() {
  const begun: {
    readonly key: string;
    readonly answer: (value: string) => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  const reads = new SharedReads((key) => new Promise<string>((answer, fail) => void begun.push({ key, answer, fail })));
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { begun, reads, settle };
}

test('thousands who ask at once are answered by two reads, and none by a read that began before it asked', async () => {
  const { begun, reads, settle } = givenReads();
  const first = reads.get('net');
  const others = Array.from({ length: 5_000 }, () => reads.get('net'));
  begun[0]?.answer('before');
  await settle();
  begun[1]?.answer('after');
  expect(await first).toBe('before');
  expect(new Set(await Promise.all(others))).toEqual(new Set(['after']));
  expect(begun.map(({ key }) => key)).toEqual(['net', 'net']);
});

test('reads of different pipelines do not wait for each other, and a later one is made anew', async () => {
  const { begun, reads, settle } = givenReads();
  void reads.get('net');
  const dns = reads.get('dns');
  begun[1]?.answer('dns');
  expect(await dns).toBe('dns');
  void reads.get('dns');
  await settle();
  expect(begun.map(({ key }) => key)).toEqual(['net', 'dns', 'dns']);
});

test('a read that fails fails only those who asked before it began', async () => {
  const { begun, reads, settle } = givenReads();
  const first = reads.get('net');
  const second = reads.get('net');
  begun[0]?.fail(new Error('no worker'));
  await expect(first).rejects.toThrow('no worker');
  await settle();
  begun[1]?.answer('made');
  expect(await second).toBe('made');
});
