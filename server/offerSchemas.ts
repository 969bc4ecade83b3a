import { z } from 'zod';
import { listQuery, offerFields, offerState, offerUser, time } from './schemas';

/** Schemas of offers; `/openapi.json` is generated from them. */

export const offerQuery = listQuery
  .pick({ limit: true })
  .extend({ to: listQuery.shape.pipeline.describe('only offers for this pipeline') });

const rowFields = {
  ...{ name: z.string(), version: z.string().nullable(), to: z.array(z.string()) },
  release: z.number().int().nullable().describe('the release that made it last'),
};

export const offerListAnswer = z.object({
  offers: z.array(
    z.looseObject({
      ...{ id: z.string(), kind: z.literal('offer'), pipeline: z.string() },
      ...rowFields,
      state: offerState,
      since: time,
      users: z.number().int().describe('the number of its users'),
      atRisk: z.number().int().optional().describe('the number of those that it does not fit; missing if it fits all'),
    }),
  ),
  more: z.number().int().describe('the number of offers that were left out'),
  unread: z
    .array(z.object({ id: z.string(), problem: z.string() }))
    .describe('pipelines whose offers are not in the list, since they did not answer'),
  unasked: z.number().int().describe('the number of pipelines that were not asked, since there are too many'),
});

export const pipelineOffersAnswer = z.object({
  ...{ id: z.string(), kind: z.literal('offers') },
  offers: z.array(
    z.looseObject({
      ...rowFields,
      ...offerFields,
      ...{ state: offerState, seq: z.number().int().nullable(), since: time.nullable(), action: z.string().nullable() },
      value: z.record(z.string(), z.unknown()).nullable().describe('null until it is made'),
      withdrawing: z.literal(true).optional().describe('the file of its pipeline no longer has it'),
      users: z.array(
        offerUser.extend({
          pins: z.array(
            z.looseObject({
              ...{ release: z.number().int(), seq: z.number().int(), behind: z.boolean() },
              ...{ range: z.string().nullable(), parts: z.array(z.string()) },
            }),
          ),
        }),
      ),
    }),
  ),
  changes: z
    .array(z.looseObject({ release: z.number().int(), action: z.string(), offers: z.array(z.string()) }))
    .describe('deploys of the pipeline that change offers'),
});
