import { z } from 'zod';

/** Schema of the answer to an examination. */

const build = z.string().nullable().describe('of workers; null stands for workers without one');
const withinMs = z.number();

const extension = z.object({
  ...{ kind: z.string(), name: z.string(), address: z.string() },
  trouble: z.string().nullable().describe('null where it answered the worker'),
});

const examinationEnd = z.discriminatedUnion('kind', [
  z.object({
    ...{ kind: z.literal('answered'), tookMs: z.number(), extensions: z.array(extension) },
    unused: z.array(z.string()).describe('push types that do not answer, and that no deploy has used'),
    clocks: z
      .array(z.object({ identity: z.string(), aheadMs: z.number() }))
      .optional()
      .describe('how far the clocks of the workers that were reached are ahead of that of Temporal'),
  }),
  z.object({ kind: z.literal('refused'), reason: z.string() }),
  z.object({ kind: z.literal('silent'), withinMs, takenBy: z.string().nullable() }),
  z.object({ kind: z.literal('stuck'), withinMs }),
  z.object({ kind: z.literal('unpolled') }),
  z.object({ kind: z.literal('unwritten'), reason: z.string() }),
  z.object({ kind: z.literal('unbegun'), reason: z.string() }),
]);

const stuckBuild = z.object({ build: z.string(), isPolled: z.boolean(), count: z.number(), some: z.array(z.string()) });

export const examinationAnswer = z.object({
  ...{ taskQueue: z.string(), namespace: z.string() },
  pollers: z.array(z.object({ identity: z.string(), build, lastPollAt: z.string() })),
  build: build.optional(),
  lastPollAt: z.string().nullable(),
  end: examinationEnd.describe(
    'how far the work came: answered, refused or silent workers, or a Temporal server that stores nothing, or throttles or refuses us',
  ),
  backlogs: z.array(
    z.object({
      ...{ queue: z.string(), kind: z.enum(['workflow', 'activity']), build: z.string() },
      ...{ tasks: z.number(), ageMs: z.number() },
    }),
  ),
  clockAheadMs: z.number().nullable().describe('how far the clock of Temporal is ahead of that of the server'),
  attributes: z.record(z.string(), z.number()).nullable().describe('search attributes of the namespace, by type'),
  listing: z
    .discriminatedUnion('kind', [
      z.object({ kind: z.literal('listed') }),
      z.object({ kind: z.literal('late'), withinMs }),
      z.object({ kind: z.literal('silent'), reason: z.string() }),
    ])
    .nullable()
    .describe('whether lists of Temporal follow what happens; null where nothing was begun'),
  certificates: z
    .array(
      z.object({
        ...{ use: z.string(), at: z.string(), from: z.string().nullable(), until: z.string().nullable() },
        trouble: z.string().nullable().describe('why it could not be read'),
      }),
    )
    .optional()
    .describe('certificates by which the server comes to Temporal and to stores of configuration'),
  builds: z
    .object({ taskQueue: z.string(), current: build, polled: z.array(build), stuck: z.array(stuckBuild) })
    .nullable(),
});
