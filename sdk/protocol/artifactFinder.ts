import { z } from 'zod';
import { artifactSchema, MIB, type Protocol } from './common';
import { FOUND_RULES } from './contradictions/others';

/** One call serves a page of at most this many subscriptions (docs/reference/protocols.md#artifact-finder). */
export const MAX_SUBSCRIPTIONS = 1_000;

/** How to find one artifact of one pipeline; only the finder interprets `with`. */
const subscriptionSchema = z.object({
  pipeline: z.string(),
  artifact: z.string(),
  with: z.record(z.string(), z.unknown()),
});
/** A subscription in the request of `getArtifacts`: one artifact of one pipeline (docs/reference/protocols.md#getartifacts). */
export type Subscription = z.infer<typeof subscriptionSchema>;

/**
 * The artifact finder protocol (docs/reference/protocols.md#artifact-finder; Conveyor §5.1, `getArtifacts`). For each
 * subscription, `found` holds the newest artifact that is newer than `cursor`; without a cursor, the newest artifact.
 * If no artifact replaces another, as with changes of a configuration, it holds each of them, oldest first: every one
 * makes its own submission. A call consumes nothing: until something new is made, the same cursor gives the same
 * answer. The answered cursor marks the moment of the call, for all subscriptions; an unknown cursor counts as none. A
 * subscription that cannot be served is named in `refused`, so that it does not spoil the page for the others.
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
/** The methods of an artifact finder (docs/reference/protocols.md#artifact-finder). */
export type ArtifactFinderProtocol = typeof artifactFinderProtocol;
