import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import { setTimeout as delay } from 'node:timers/promises';
import { workflowIds } from '../domain/ids';
import { DEFAULT_SETTINGS } from '../domain/settings';
import { pipelineSchema } from '../domain/spec/pipeline';
import type { ReleaseSummary } from '../domain/views';
import { listReleaseLabels } from '../domain/where/words';
import { sha256 } from '../sdk/digest';
import { control, deploying, onStack, OWNER, type Bench } from './services';
import { each, p50p99, print, run, seconds } from './stack';

/**
 * `npx jiti bench/where.ts [releases] [times]`: looks for a revision among so many releases: 48,000 by default, a day of the paper's 30,000 pipelines.
 * All but one are in Temporal alone, as visibility sees a running release; that one deploys to a simulated fleet.
 */
const RELEASES = Number(process.argv[2] ?? 48_000);
const TIMES = Number(process.argv[3] ?? 100);
const AT_ONCE = 40;
/** Temporal answers 50 lists a second per namespace; beyond that callers wait. */
const BETWEEN_LOOKS_MS = 200;
const NAME = 'sought';

const revisionOf = (nth: number): string => sha256(`revision ${nth}`).slice(0, 40);
const artifactOf = (name: string, nth: number) => ({
  ...{ name: 'executable', kind: 'executable', version: `${name}:${nth}`, metadata: {} },
  builtFrom: { repository: 'acme/shop', revision: revisionOf(nth) },
});

const KEYS = {
  pipeline: defineSearchAttributeKey('ConveyorPipeline', 'KEYWORD'),
  release: defineSearchAttributeKey('ConveyorRelease', 'KEYWORD'),
  state: defineSearchAttributeKey('ConveyorState', 'KEYWORD'),
  labels: defineSearchAttributeKey('ConveyorLabels', 'KEYWORD_LIST'),
};

/** A release that no worker runs. */
async function startIdle({ temporal }: Bench, nth: number): Promise<void> {
  const [pipeline, artifacts] = [`p-${nth}`, [artifactOf(`p-${nth}`, nth)]];
  const trigger = { kind: 'manual', actor: OWNER, key: null } as const;
  const summary: Partial<ReleaseSummary> = {
    ...{ id: `${pipeline}/1`, pipeline, number: 1, state: 'running', endedAt: null },
    ...{ artifacts, trigger, startedAt: new Date().toISOString() },
  };
  await temporal.workflow.start('release', {
    ...{ workflowId: workflowIds.release(pipeline, 1), taskQueue: 'bench-where-idle', args: [], memo: { summary } },
    typedSearchAttributes: new TypedSearchAttributes([
      { key: KEYS.pipeline, value: pipeline },
      { key: KEYS.release, value: `${pipeline}/1` },
      { key: KEYS.state, value: 'running' },
      { key: KEYS.labels, value: [...listReleaseLabels(trigger, artifacts)] },
    ]),
  });
}

/** A release that bakes. */
async function startSought({ ready, client }: Bench): Promise<void> {
  const job = { name: NAME, service: NAME, region: 'x', tasks: 3, version: `${NAME}:none`, nSmall: 3, budget: '50%' };
  await control(ready, '/control/jobs', job);
  const phases = [{ name: 'first', scope: '*', amount: 1, bake: '1h' }];
  await client.apply(pipelineSchema.parse(deploying(NAME, { config: { jobs: [NAME] }, phases })), OWNER);
  await client.release(NAME, [artifactOf(NAME, 0)], { kind: 'manual', actor: OWNER, key: null });
}

async function main(): Promise<void> {
  await onStack(60, DEFAULT_SETTINGS, async (bench) => {
    await startSought(bench);
    const from = Date.now();
    await each(
      Array.from({ length: RELEASES }, (_, nth) => nth + 1),
      AT_ONCE,
      async (nth) => {
        await startIdle(bench, nth);
        if (nth % 10_000 === 0) process.stderr.write(`${nth} releases\n`);
      },
    );
    print([['releases, made in', `${RELEASES}, ${seconds(Date.now() - from)}`]]);
    const [full, short, absent] = [revisionOf(0), revisionOf(0).slice(0, 9), revisionOf(-1)];
    for (const [title, revision, count] of [
      ['a revision of which one release is under way', full, 1],
      ['its first nine digits', short, 1],
      ['a revision of which there is none', absent, 0],
    ] as const) {
      const took: number[] = [];
      for (let time = 0; time < TIMES; time += 1) {
        const began = performance.now();
        const { releases } = await bench.client.where({ revision, limit: 10 });
        took.push(performance.now() - began);
        if (releases.length !== count) throw new Error(`${title}: ${releases.length} releases were found`);
        await delay(BETWEEN_LOOKS_MS);
      }
      print([[`where, ${title}: p50, p99`, p50p99(took)]]);
    }
  });
}

run(main);
