import type { ExaminationView } from '../../domain/examination';
import { examinationAnswer } from '../../server/examinationSchemas';
import { appOf, FakePipelines, NOW_MS, TOKEN } from '../builders/serverWorld';

const VIEW: ExaminationView = {
  ...{ taskQueue: 'conveyor', namespace: 'default', pollers: [], lastPollAt: null, end: { kind: 'unpolled' } },
  ...{ backlogs: [], clockAheadMs: null, attributes: { ConveyorState: 2 }, builds: null, listing: null },
};

/** A server whose examinations end when the test says so. */
function world() {
  const ends: ((view: ExaminationView) => void)[] = [];
  let nowMs = NOW_MS;
  const app = appOf(new FakePipelines(), {
    examine: () => new Promise((resolve) => ends.push(resolve)),
    now: () => nowMs,
  });
  const ask = async (token = TOKEN) =>
    app.request('/v1/examination', { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  return { ends, ask, later: (ms: number) => (nowMs += ms) };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('many who ask at once share one examination, and soon after its answer', async () => {
  const { ends, ask, later } = world();
  const both = Promise.all([ask(), ask()]);
  await turn();
  ends[0]?.(VIEW);
  const answers = await both;
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(examinationAnswer.parse(await answers[0]?.json())).toEqual(VIEW);
  later(4_999);
  expect((await ask()).status).toBe(200);
  later(1);
  void ask();
  await turn();
  expect(ends).toHaveLength(2);
});

test('a slow examination delays no command, and more than a few in line are refused', async () => {
  const { ends, ask } = world();
  const waiting = Array.from({ length: 32 }, () => ask());
  await turn();
  expect((await ask()).status).toBe(503);
  ends[0]?.(VIEW);
  expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
});

test('an anonymous caller learns nothing of processes and extensions', async () => {
  const { ends, ask } = world();
  expect((await ask('guessed')).status).toBe(401);
  expect(ends).toEqual([]);
});

test('a server that cannot examine says so', async () => {
  const answer = await appOf(new FakePipelines()).request('/v1/examination', {
    ...{ method: 'POST', headers: { authorization: `Bearer ${TOKEN}` } },
  });
  expect(answer.status).toBe(404);
});
