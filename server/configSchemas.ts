import { z } from 'zod';
import { REQUEST_LIMITS } from '../domain/limits';
import { releaseRequest } from './schemas';

/** Schemas of the configuration API. */

const commit = z.string().describe('the id of a commit');
const path = z.string().min(1).max(256).describe('the path of a value, such as feed/limits');
const base = z
  .string()
  .regex(/^[0-9a-f]{7,64}$/, { error: 'expected the id of a commit' })
  .optional()
  .describe(
    'the commit that it is based on, of the branch or of a landed change; defaults to the newest of the branch',
  );

export const proposalRequest = z
  .strictObject({
    message: z.string().trim().min(1).describe('what changes, and why'),
    values: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('the new value of each path: any JSON, or the text of a YAML file; null deletes it'),
    files: z
      .record(z.string(), z.string().nullable())
      .optional()
      .describe('or the texts of sources, such as programs; null deletes one'),
    base,
    idempotencyKey: releaseRequest.shape.idempotencyKey.describe(
      'repeating a key returns the same change; the header Idempotency-Key does the same',
    ),
  })
  .refine(({ values, files }) => (values === undefined) !== (files === undefined), {
    error: 'expected either values or files',
  });

export const proposalAnswer = z.object({
  repository: z.string(),
  change: z.number().int(),
  version: z.string().describe('`N@<commit>`: the version of the artifact, which is released like any other'),
  base: commit.nullable().describe('the parent commit; null for the first of a branch'),
  paths: z.array(z.string()).describe('the values that it sets or deletes'),
  deleted: z.array(z.string()).optional().describe('the sources that it deletes'),
  duplicate: z.boolean().describe('true if the same key proposed it before'),
});

export const diffRequest = z.strictObject({
  files: z.record(z.string(), z.string().nullable()).describe('the texts of sources; null deletes one'),
  base,
});

const text = z.string().nullable().describe('null if there is none');
export const diffAnswer = z.object({
  base: commit.nullable().describe('the commit to which it is compared; null on an empty branch'),
  files: z.array(z.string()).describe('the sources that differ'),
  deleted: z.array(z.string()).describe('those of them that it deletes'),
  values: z.array(z.object({ path: z.string(), before: text, after: text })),
  problems: z
    .array(z.object({ code: z.string(), message: z.string(), hint: z.string() }))
    .describe('why it cannot be proposed as it is'),
});

export const repositoriesAnswer = z.array(z.object({ name: z.string(), branch: z.string() }));

export const changeAnswer = z.object({
  ...{ change: z.number().int(), commit, base: z.string(), author: z.string(), at: z.iso.datetime() },
  message: z.string(),
  landed: commit.nullable().describe('the commit that landed it; null until then'),
});
export const changesAnswer = z.array(changeAnswer);

export const landedAnswer = z.array(
  z.object({
    ...{ commit, parents: z.array(z.string()), author: z.string(), at: z.iso.datetime(), subject: z.string() },
    ...{ body: z.string(), change: z.number().int().nullable().describe('null for a commit pushed without a change') },
  }),
);

export const rowsQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(REQUEST_LIMITS.rows.max).default(20),
});

export const valueQuery = z.strictObject({
  path,
  change: z.coerce.number().int().min(1).optional().describe('the number of a change whose value to show'),
});
export const valueAnswer = z.object({ path: z.string(), commit: commit.nullable(), value: z.string() });

export const sourcesQuery = z.strictObject({ base });
export const sourcesAnswer = z.object({
  commit: commit.nullable(),
  files: z.record(z.string(), z.string()).describe('the git object id of each'),
});

const anyObject = z.object({ unknown: z.string().describe('why it is unknown') });
const subscription = z.object({
  ...{ host: z.string(), state: z.enum(['committed', 'overridden', 'refused', 'stale']), version: z.string() },
  ...{ revision: z.string().nullable(), commit: z.string().nullable(), since: z.iso.datetime() },
  ...{ refused: z.string().nullable(), loading: z.string().nullable() },
});
const signatures = z
  .object({
    state: z.enum(['signed', 'unchecked', 'unsigned', 'untrusted', 'absent']),
    faults: z.array(z.object({ what: z.string(), why: z.string() })).describe('twenty at most'),
    more: z.number().int().describe('how many others'),
  })
  .describe('whether the content of the store is signed by keys that the server trusts, and which entries are not');
const subscribers = z.union([
  z.object({
    ...{ total: z.number().int(), committed: z.number().int(), overridden: z.number().int() },
    ...{ refused: z.number().int(), stale: z.number().int() },
    exposed: z
      .array(z.object({ deploy: z.string(), revision: z.string() }))
      .describe('uncommitted changes, by the deploys that expose them or left them behind'),
    named: z.array(subscription).describe('some subscriptions that refuse their value, or have a wrong one'),
    signatures,
    unverified: z
      .number()
      .int()
      .describe('subscriptions that do not report accepting only values signed by trusted keys'),
  }),
  anyObject,
]);

export const whyQuery = z.strictObject({ path: path.describe('the path of a value or of a source') });
export const whyAnswer = z.object({
  path: z.string(),
  files: z.array(z.string()).describe('the files from which a value is made, its own first'),
  contributesTo: z.array(z.string()).describe('the values that a file contributes to'),
  subscribers: z.record(z.string(), subscribers).describe('by the paths of values'),
});

export const hostQuery = z.strictObject({ path, host: z.string().min(1).max(256) });
export const hostAnswer = z.union([
  z.object({ subscription: subscription.nullable(), value: z.string().nullable(), signatures }),
  anyObject,
]);
