import { z } from 'zod';

/** Schema of the answer to an examination. */

const build = z.string().nullable().describe('the build of workers; null for workers without one');
const withinMs = z.number();

const extension = z.object({
  ...{ kind: z.string(), name: z.string(), address: z.string() },
  trouble: z.string().nullable().describe('null if it answered the worker'),
});

const examinationEnd = z.discriminatedUnion('kind', [
  z.object({
    ...{ kind: z.literal('answered'), tookMs: z.number(), extensions: z.array(extension) },
    unused: z.array(z.string()).describe('push types that do not answer, and that no deploy has used'),
    clocks: z
      .array(z.object({ identity: z.string(), aheadMs: z.number() }))
      .optional()
      .describe('how far the clocks of the reached workers are ahead of that of Temporal'),
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
    'the result: workers that answered, refused or were silent, or a Temporal server that stores nothing, or throttles or refuses requests',
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
    .describe('whether the lists of Temporal are current; null if no workflow was started'),
  certificates: z
    .array(
      z.object({
        ...{ use: z.string(), at: z.string(), from: z.string().nullable(), until: z.string().nullable() },
        trouble: z.string().nullable().describe('why it could not be read'),
      }),
    )
    .optional()
    .describe('certificates with which the server connects to Temporal and to stores of configuration'),
  builds: z
    .object({ taskQueue: z.string(), current: build, polled: z.array(build), stuck: z.array(stuckBuild) })
    .nullable(),
  unanswered: z
    .array(z.object({ subject: z.enum(['backlogs', 'builds', 'search attributes']), reason: z.string() }))
    .optional()
    .describe('questions that Temporal did not answer, so that nothing is known of their subjects'),
});
