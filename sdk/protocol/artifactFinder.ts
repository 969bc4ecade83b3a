import { z } from 'zod';
import { artifactSchema, MIB, type Protocol } from './common';
import { FOUND_RULES } from './contradictions/others';

/** One call serves a page of at most this many subscriptions (docs/reference/protocols.md#artifact-finder). */
export const MAX_SUBSCRIPTIONS = 1_000;

/** What one artifact of one pipeline should be looked for by; `with` is the finder's own business. */
const subscriptionSchema = z.object({
  pipeline: z.string(),
  artifact: z.string(),
  with: z.record(z.string(), z.unknown()),
});
export type Subscription = z.infer<typeof subscriptionSchema>;

/**
 * The artifact finder protocol (docs/reference/protocols.md#artifact-finder; Conveyor §5.1, `getArtifacts`). `found` holds, for each subscription that
 * has something newer than `cursor`, the newest; without a cursor the newest of each that has any. If no artifact stands
 * for another, as with changes of a configuration, it holds each, oldest first: every one makes a submission of its own. Looking uses nothing
 * up: until something new is made, the same cursor gives the same answer. The answered cursor stands for the moment of
 * the call, whatever was asked for; a cursor that the finder does not know (any more) is treated as none. A subscription
 * that cannot be served is named in `refused`, so that it does not spoil the page for the others.
 */
export const artifactFinderProtocol = {
  getArtifacts: {
    request: z.object({
      subscriptions: z.array(subscriptionSchema).max(MAX_SUBSCRIPTIONS, {
        error: `one call serves at most ${MAX_SUBSCRIPTIONS} subscriptions`,
      }),
      cursor: z.string().optional(),
    }),
    response: z.object({
      found: z.array(z.object({ pipeline: z.string(), artifact: artifactSchema })),
      cursor: z.string(),
      refused: z.array(z.object({ pipeline: z.string(), artifact: z.string(), message: z.string() })).default([]),
    }),
    contradictions: FOUND_RULES,
    maxAnswerBytes: 8 * MIB,
    mutates: false,
  },
} as const satisfies Protocol;
export type ArtifactFinderProtocol = typeof artifactFinderProtocol;
