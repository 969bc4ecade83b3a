import { NOT_BEGUN, recordAnswer, type FinderRefusal } from '../../../domain/finder/sweep';

const page = { asked: [], pipelines: 600, cursor: null };
const refusals = (more: Partial<FinderRefusal>): FinderRefusal[] =>
  Array.from({ length: 600 }, (_, n) => ({
    ...{ pipeline: `web-${n}`, artifact: 'vpc', message: 'base does not offer vpc to it' },
    ...more,
  }));
const recorded = (refused: readonly FinderRefusal[]) =>
  recordAnswer(NOT_BEGUN, page, { found: [], cursor: '1', refused });

test('each pipeline that a finder refuses for now is asked for again', () =>
  expect(recorded(refusals({})).again).toHaveLength(600));

test('many refusals that last are counted, and leave room in the memory of the sweep for others', () => {
  const { refused, again } = recorded(refusals({ lasts: true }));
  expect([refused, again.length]).toEqual([600, 500]);
});
