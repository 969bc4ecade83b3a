import { findOutputs } from '../../activities/pipelineOutput';
import { wallClock } from '../../activities/clock';
import type { HistoryRow } from '../../domain/views';
import { FinderWorld } from '../builders/finderWorld';

const row = (pipeline: string): HistoryRow =>
  ({
    ...{ id: `${pipeline}/1`, pipeline, number: 1, state: 'succeeded', endedAt: '2026-11-23T18:00:00.000Z' },
    artifacts: [{ name: 'image', kind: 'package', version: `${pipeline}:1`, metadata: {} }],
  }) as unknown as HistoryRow;

test('a silent release fails only the waits for its output', async () => {
  const world = new FinderWorld('pipeline-output', fetch);
  for (const pipeline of ['base', 'slow']) world.histories.set(pipeline, [row(pipeline)]);
  world.moods.set('release/slow/1', 'silent');
  const wants = (pipeline: string) => ({
    ...{ pipeline: `of-${pipeline}`, artifact: 'input', with: { pipeline, artifact: 'image' } },
  });
  const parts = { client: world.client(), clock: { ...wallClock, now: async () => world.now } };
  const answer = await findOutputs(parts, { subscriptions: [wants('slow'), wants('base')] });
  expect(answer.found).toMatchObject([{ pipeline: 'of-base', artifact: { version: 'base:1', producedBy: 'base/1' } }]);
  expect(answer.refused).toEqual([
    { pipeline: 'of-slow', artifact: 'input', message: 'release slow/1 does not answer' },
  ]);
});
