import * as fc from 'fast-check';
import { memoryAfter, needsLatest, type SweepMemory } from '../../../domain/finder/memory';
import { subscriptionPages, type Page } from '../../../domain/finder/pages';
import type { PipelineSubscriptions } from '../../../domain/pipeline/pipelineIndex';

const BEGAN = 1_000_000;
const MEMORY: SweepMemory = { cursor: '7', beganMs: BEGAN, again: ['sulky'] };

const pipeline = (name: string, artifacts = 1, subscribedAtMs = 0, wanted = {}): PipelineSubscriptions => ({
  pipeline: name,
  subscribedAtMs,
  subscriptions: Array.from({ length: artifacts }, (_, index) => ({ artifact: `a${index}`, with: wanted })),
});

async function* listed(pipelines: readonly PipelineSubscriptions[]): AsyncGenerator<PipelineSubscriptions> {
  yield* pipelines;
}

async function pages(
  pipelines: readonly PipelineSubscriptions[],
  memory: SweepMemory | null,
  max = 3,
): Promise<Page[]> {
  const found: Page[] = [];
  for await (const page of subscriptionPages(listed(pipelines), memory, max)) found.push(page);
  return found;
}
const shape = (found: readonly Page[]) =>
  found.map(({ cursor, asked }) => [cursor, asked.map((each) => each.pipeline).join(' ')]);

describe('who is asked for the latest, whatever the cursor', () => {
  test.each<[string, PipelineSubscriptions, SweepMemory | null, boolean]>([
    ['everybody before the first sweep', pipeline('web'), null, true],
    ['everybody after a sweep that had nobody to ask for', pipeline('web'), { ...MEMORY, cursor: null }, true],
    ['nobody who subscribed long before the last sweep', pipeline('web'), MEMORY, false],
    ['who subscribed after the last sweep began', pipeline('web', 1, BEGAN + 1), MEMORY, true],
    [
      'who subscribed so shortly before it that the listing may lack them',
      pipeline('web', 1, BEGAN - 5_000),
      MEMORY,
      true,
    ],
    ['who did not get what there was', pipeline('sulky'), MEMORY, true],
  ])('%s', (_, asked, memory, expected) => {
    expect(needsLatest(asked, memory)).toBe(expected);
  });
});

describe('pages', () => {
  const old = ['a', 'b', 'c', 'd'].map((name) => pipeline(name));
  test.each<[string, PipelineSubscriptions[], SweepMemory | null, (string | null)[][]]>([
    ['there are none when nobody subscribed', [], MEMORY, []],
    [
      'are filled to the brim',
      old,
      MEMORY,
      [
        ['7', 'a b c'],
        ['7', 'd'],
      ],
    ],
    [
      'have no cursor in the first sweep',
      old,
      null,
      [
        [null, 'a b c'],
        [null, 'd'],
      ],
    ],
    [
      'hold either those with a cursor or those without',
      [...old, pipeline('new', 1, BEGAN)],
      MEMORY,
      [
        ['7', 'a b c'],
        [null, 'new'],
        ['7', 'd'],
      ],
    ],
    [
      'keep the artifacts of one pipeline together',
      [pipeline('a', 2), pipeline('b', 2)],
      MEMORY,
      [
        ['7', 'a a'],
        ['7', 'b b'],
      ],
    ],
    [
      'split a pipeline that fits on none',
      [pipeline('a', 1), pipeline('b', 4)],
      MEMORY,
      [
        ['7', 'a'],
        ['7', 'b b b'],
        ['7', 'b'],
      ],
    ],
  ])('%s', async (_, pipelines, memory, expected) => {
    expect(shape(await pages(pipelines, memory))).toEqual(expected);
  });

  test('30,000 pipelines fit on 30', async () => {
    const many = Array.from({ length: 30_000 }, (_, index) => pipeline(`p-${index}`));
    expect((await pages(many, MEMORY, 1_000)).map(({ asked }) => asked.length)).toEqual(Array(30).fill(1_000));
  });

  test('stay below the size that a service takes, however long what is asked for', async () => {
    const long = Array.from({ length: 100 }, (_, index) => pipeline(`p-${index}`, 1, 0, { path: 'ü'.repeat(10_000) }));
    const sizes = (await pages(long, MEMORY, 1_000)).map(({ asked }) => Buffer.byteLength(JSON.stringify(asked)));
    expect(Math.max(...sizes)).toBeLessThan(1_048_576 - 4_096);
    expect(sizes.length).toBeLessThan(10);
  });

  test('ask for every subscription exactly once, in no more calls than needed, whatever the pipelines', async () => {
    const some = fc.array(fc.record({ artifacts: fc.integer({ min: 1, max: 5 }), at: fc.constantFrom(0, BEGAN + 1) }), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(some, fc.integer({ min: 1, max: 7 }), async (made, max) => {
        const pipelines = made.map(({ artifacts, at }, index) => pipeline(`p${index}`, artifacts, at));
        const found = await pages(pipelines, MEMORY, max);
        const asked = found.flatMap((page) => page.asked.map((each) => `${each.pipeline}/${each.artifact}`));
        const wanted = pipelines.flatMap((each) =>
          each.subscriptions.map(({ artifact }) => `${each.pipeline}/${artifact}`),
        );
        expect([...asked].sort()).toEqual([...wanted].sort());
        expect(found.every((page) => page.asked.length > 0 && page.asked.length <= max)).toBe(true);
        expect(found.reduce((sum, page) => sum + page.pipelines, 0)).toBe(pipelines.length);
        for (const { cursor, asked: on } of found)
          for (const each of on) {
            const of = pipelines.find((candidate) => candidate.pipeline === each.pipeline)!;
            expect(cursor === null).toBe(needsLatest(of, MEMORY));
          }
      }),
    );
  });
});

describe('the state that a sweep leaves to the next', () => {
  const next = { cursor: '9', again: ['web'] };
  const crowd = Array.from({ length: 1_001 }, (_, index) => `p-${index}`);
  test.each<[string, SweepMemory | null, { cursor: string | null; again: string[] }, SweepMemory]>([
    ['is the cursor of its first call, when it began and whom to ask again', MEMORY, next, { ...next, beganMs: 5 }],
    [
      'is the cursor of before when there was nobody to ask for',
      MEMORY,
      { cursor: null, again: [] },
      { cursor: '7', again: [], beganMs: 5 },
    ],
    [
      'is nothing when there never was anybody',
      null,
      { cursor: null, again: [] },
      { cursor: null, again: [], beganMs: 5 },
    ],
    ['is what it started from when too many got nothing', MEMORY, { cursor: '9', again: crowd }, MEMORY],
    [
      'is nothing when too many got nothing in the first',
      null,
      { cursor: '9', again: crowd },
      { cursor: null, again: [], beganMs: 5 },
    ],
  ])('%s', (_, before, outcome, expected) => {
    expect(memoryAfter(before, 5, outcome)).toEqual(expected);
  });
});
