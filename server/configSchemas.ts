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
    'the commit that it was made on, on the branch or of a change that landed; the newest of the branch unless given',
  );

export const proposalRequest = z
  .strictObject({
    message: z.string().trim().min(1).describe('what changes, and why'),
    values: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('what each path becomes: any JSON, of YAML its text; null takes it away'),
    files: z
      .record(z.string(), z.string().nullable())
      .optional()
      .describe('or the texts of sources, such as programs; null takes one away'),
    base,
    idempotencyKey: releaseRequest.shape.idempotencyKey.describe(
      'the same key gives the same change; the header Idempotency-Key means the same',
    ),
  })
  .refine(({ values, files }) => (values === undefined) !== (files === undefined), {
    error: 'expected either values or files',
  });

export const proposalAnswer = z.object({
  repository: z.string(),
  change: z.number().int(),
  version: z.string().describe('`N@<commit>`: the version of the artifact, which is released as any other'),
  base: commit.nullable().describe('the commit that it is on top of; null for the first of a branch'),
  paths: z.array(z.string()).describe('the values that it makes or takes away'),
  deleted: z.array(z.string()).optional().describe('the sources that it deletes'),
  duplicate: z.boolean().describe('it was proposed before, by the same key'),
});

export const diffRequest = z.strictObject({
  files: z.record(z.string(), z.string().nullable()).describe('the texts of sources; null takes one away'),
  base,
});

const text = z.string().nullable().describe('null: there is none');
export const diffAnswer = z.object({
  base: commit.nullable().describe('the commit that it is compared with; null where the branch has none'),
  files: z.array(z.string()).describe('the sources that differ'),
  deleted: z.array(z.string()).describe('those of them that are gone then'),
  values: z.array(z.object({ path: z.string(), before: text, after: text })),
  problems: z
    .array(z.object({ code: z.string(), message: z.string(), hint: z.string() }))
    .describe('why it cannot be proposed as it is'),
});

export const repositoriesAnswer = z.array(z.object({ name: z.string(), branch: z.string() }));

export const changeAnswer = z.object({
  ...{ change: z.number().int(), commit, base: z.string(), author: z.string(), at: z.iso.datetime() },
  message: z.string(),
  landed: commit.nullable().describe('the commit that landed it; null while none did'),
});
export const changesAnswer = z.array(changeAnswer);

export const landedAnswer = z.array(
  z.object({
    ...{ commit, parents: z.array(z.string()), author: z.string(), at: z.iso.datetime(), subject: z.string() },
    ...{ body: z.string(), change: z.number().int().nullable().describe('null: somebody pushed it') },
  }),
);

export const rowsQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(REQUEST_LIMITS.rows.max).default(20),
});

export const valueQuery = z.strictObject({
  path,
  change: z.coerce.number().int().min(1).optional().describe('as this change would have it'),
});
export const valueAnswer = z.object({ path: z.string(), commit: commit.nullable(), value: z.string() });

export const sourcesQuery = z.strictObject({ base });
export const sourcesAnswer = z.object({
  commit: commit.nullable(),
  files: z.record(z.string(), z.string()).describe('the name that git has for the text of each'),
});

const anyObject = z.object({ unknown: z.string().describe('why nobody knows') });
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
  .describe('whether what the store holds is signed by keys that the server trusts, and what is not to be believed');
const subscribers = z.union([
  z.object({
    ...{ total: z.number().int(), committed: z.number().int(), overridden: z.number().int() },
    ...{ refused: z.number().int(), stale: z.number().int() },
    exposed: z
      .array(z.object({ deploy: z.string(), revision: z.string() }))
      .describe('changes that are not committed, by the deploys that expose them, or have left them so'),
    named: z.array(subscription).describe('some that refuse what they have, or have something else than they should'),
    signatures,
    unverified: z.number().int().describe('those that do not report that they take only what trusted keys have signed'),
  }),
  anyObject,
]);

export const whyQuery = z.strictObject({ path: path.describe('of a value, or of a source') });
export const whyAnswer = z.object({
  path: z.string(),
  files: z.array(z.string()).describe('where a value comes from, the file that makes it first'),
  contributesTo: z.array(z.string()).describe('the values that a file contributes to'),
  subscribers: z.record(z.string(), subscribers).describe('by the paths of values'),
});

export const hostQuery = z.strictObject({ path, host: z.string().min(1).max(256) });
export const hostAnswer = z.union([
  z.object({ subscription: subscription.nullable(), value: z.string().nullable(), signatures }),
  anyObject,
]);
