import { Loop } from '../../configerator/proxy/loop';

test('a loop does what is added while it runs, also in the very moment in which it stops', async () => {
  for (let moments = 0; moments < 10; moments += 1) {
    const due = ['first'];
    const done: string[] = [];
    const step = async (): Promise<void> => void done.push(due.shift() ?? '');
    const loop = new Loop(() => due.length > 0, step, fail);
    loop.wake();
    for (let left = moments; left > 0; left -= 1) await Promise.resolve();
    due.push('second');
    loop.wake();
    await loop.awaitStop();
    expect({ moments, done }).toEqual({ moments, done: ['first', 'second'] });
  }
});

test('a loop does one thing at a time, and after an error continues when it is woken', async () => {
  const due = [1, 2, 3];
  const errors: unknown[] = [];
  let [running, most] = [0, 0];
  const step = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    if (due.shift() === 1) throw new Error('the first fails');
  };
  const loop = new Loop(
    () => due.length > 0,
    step,
    (error) => errors.push(error),
  );
  loop.wake();
  loop.wake();
  await loop.awaitStop();
  expect({ due, errors: errors.length }).toEqual({ due: [2, 3], errors: 1 });
  loop.wake();
  await loop.awaitStop();
  expect({ due, most }).toEqual({ due: [], most: 1 });
});

const fail = (error: unknown): void => {
  throw error;
};
