import type { Clock } from '../../activities/clock';
import { createServerClock } from '../../workers/serverClock';

/** A worker whose clock is off by so much, and what it says and shows of that. */
function worker(offMs: number) {
  const said: string[] = [];
  const shown: number[] = [];
  const own: Clock = { now: () => Promise.resolve(Date.now()), sleep: () => Promise.resolve() };
  const clock = createServerClock(
    own,
    { createGauge: () => ({ set: (value) => void shown.push(Math.round(value)) }) },
    { error: (_of: object, words: string) => said.push(words), info: (_of: object, words: string) => said.push(words) },
  );
  let off = offMs;
  return {
    ...{ said, shown },
    takesTask: () => clock.taskStarted(Date.now() - off),
    isSet: () => (off = 0),
    /** How far the time that activities are given is from Temporal's. */
    offForActivities: async () => Math.abs((await clock.now()) - (Date.now() - off)),
  };
}

test.each([
  [120_000, '2m ahead of'],
  [-120_000, '2m behind'],
])(
  'a worker whose clock is off by %d ms says so once, shows it, and gives activities the time of Temporal',
  async (off, words) => {
    const { said, shown, takesTask, offForActivities } = worker(off);
    for (let task = 0; task < 3; task += 1) takesTask();
    expect(said).toEqual([expect.stringContaining(`the clock of this worker is ${words} Temporal's: set it by NTP`)]);
    expect(shown).toEqual([120, 120, 120]);
    expect(await offForActivities()).toBeLessThan(1_000);
  },
);

test('a worker says when its clock is right again', async () => {
  const { said, takesTask, isSet, offForActivities } = worker(120_000);
  takesTask();
  isSet();
  takesTask();
  expect(said[1]).toBe("the clock of this worker agrees with Temporal's again");
  expect(await offForActivities()).toBeLessThan(1_000);
});

test('a clock that differs only a little is trusted', async () => {
  const { said, takesTask, offForActivities } = worker(2_000);
  takesTask();
  expect(said).toEqual([]);
  expect(Math.round((await offForActivities()) / 1_000)).toBe(2);
});
