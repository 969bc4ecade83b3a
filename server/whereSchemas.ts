import { z } from 'zod';
import { listQuery, releaseAnswer, time } from './schemas';

/** Schemas of the search for a revision; `/openapi.json` is generated from them. */

export const whereQuery = listQuery.pick({ limit: true }).extend({
  revision: z.string().describe('a commit of 7 digits or more, a version, or a digest'),
});

const whereDeploy = z.object({
  ...{ action: z.string(), state: z.string(), outcome: z.string().nullable() },
  phase: z
    .object({ n: z.number().int(), of: z.number().int(), name: z.string() })
    .nullable()
    .describe('the phase under way, counted from 1'),
  share: z.number().nullable().describe('of its tasks, from 0 to 1; null if it is not known'),
});

const whereRelease = z.looseObject({
  ...{ id: z.string(), pipeline: z.string(), number: z.number().int(), state: releaseAnswer.shape.state },
  stage: z
    .enum([
      ...(['building', 'testing', 'waiting', 'deploying', 'paused', 'reverting', 'running'] as const),
      ...(['everywhere', 'replaced', 'succeeded', 'undone', 'reverted', 'superseded', 'cancelled', 'failed'] as const),
    ])
    .describe('`everywhere`: its version is in production; `replaced`: that of another release is'),
  contains: z
    .object({
      ...{ artifact: z.string(), revision: z.string() },
      by: z
        .enum(['revision', 'version', 'digest', 'ancestor'])
        .describe('`ancestor`: this newer revision contains the one that was asked for'),
    })
    .describe('the artifact by which it contains the revision'),
  ...{ startedAt: time, endedAt: time.nullable(), deploys: z.array(whereDeploy) },
  share: z.number().nullable().describe('of the tasks of all its deploys, from 0 to 1; null if it is not known'),
  by: z.string().nullable().describe('the release that runs instead'),
  knownBad: z.array(z.string()),
  undone: releaseAnswer.shape.undone.nullable(),
  wait: z.object({ why: z.string(), until: time.nullable() }).nullable().describe('what holds it, and until when'),
  everywhereAt: time.nullable().describe('when it will be everywhere if all goes well; null if it is not known'),
  next: z.string().describe('the command to type next'),
  problem: z.string().optional().describe('why this information is old or incomplete'),
});

export const whereAnswer = z.object({
  ...{ kind: z.literal('where'), asked: z.string() },
  revision: z.string().nullable().describe('in full; null if no release contains it, or if it is ambiguous'),
  candidates: z
    .array(z.object({ revision: z.string(), release: z.string() }))
    .describe('the revisions that an ambiguous abbreviation may mean, each with its newest release'),
  releases: z.array(whereRelease).describe('by pipeline, the newest first'),
  total: z.number().int().describe('the number of releases that contain it, with those that are not listed'),
  underWay: z.number().int(),
  succeeded: z.number().int(),
  searched: z
    .looseObject({
      retentionMs: z.number().nullable().describe('Temporal forgets ended releases after this time'),
      older: z
        .object({ count: z.number().int(), read: z.number().int() })
        .nullable()
        .describe('releases that began before their revisions were listed; the newest of them were read'),
      archive: z.object({ problem: z.string().nullable() }).nullable(),
      repositories: z
        .array(z.object({ name: z.string(), problem: z.string().nullable() }))
        .describe('repositories of configuration that were asked which newer revisions contain it'),
    })
    .describe('where the search looked'),
});
