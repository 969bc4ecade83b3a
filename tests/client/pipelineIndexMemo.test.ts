import type { Client } from '@temporalio/client';
import { createPipelineIndex } from '../../client/pipelineIndex';

const STARTED = new Date(1_000);
const ARTIFACTS = { source: { finder: 'commits', with: { repository: 'kv' } }, model: { finder: 'manual', with: {} } };

/** A client that lists these pipelines, and asks those without a memo. */
function listing(memos: Record<string, object>, answers: Record<string, unknown>): Client {
  async function* list() {
    for (const [name, memo] of Object.entries(memos))
      yield {
        ...{ workflowId: `pipeline/${name}`, startTime: STARTED, memo },
        typedSearchAttributes: { get: () => ['commits'] },
      };
  }
  const getHandle = (id: string) => ({
    query: async () => {
      if (!(id in answers)) throw new Error('no answer in time');
      return answers[id];
    },
  });
  return {
    workflow: { list, getHandle },
    withDeadline: (_: number, work: () => unknown) => work(),
  } as unknown as Client;
}

async function found(memos: Record<string, object>, answers: Record<string, unknown> = {}) {
  const rows: [string, number, readonly object[]][] = [];
  for await (const each of createPipelineIndex(listing(memos, answers)).subscriptions('commits'))
    rows.push([each.pipeline, each.subscribedAtMs, each.subscriptions]);
  return rows;
}

const WANTED = [{ artifact: 'source', with: { repository: 'kv' } }];

test('the subscriptions of a pipeline are in its memo, with the time when they began', async () => {
  expect(await found({ web: { subscriptions: { atMs: 5_000, artifacts: ARTIFACTS } } })).toEqual([
    ['web', 5_000, WANTED],
  ]);
});

test('a pipeline that continued in a new history since then counts as new', async () => {
  expect(await found({ web: { subscriptions: { atMs: 5, artifacts: ARTIFACTS } } })).toEqual([['web', 1_000, WANTED]]);
});

test('a pipeline without a memo is asked, and a silent one delays no list', async () => {
  const answers = { 'pipeline/web': { spec: { artifacts: ARTIFACTS } }, 'pipeline/empty': null };
  expect(await found({ web: {}, silent: {}, empty: {} }, answers)).toEqual([['web', 1_000, WANTED]]);
});
