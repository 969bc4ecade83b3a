import { z } from 'zod';

/** Subsets of Kubernetes objects, checked on arrival: a field that this file names has its type, and the rest of an object passes unchecked. */

const texts = z.record(z.string(), z.string());

const ownerSchema = z.looseObject({
  kind: z.string(),
  name: z.string(),
  uid: z.string(),
  controller: z.boolean().optional(),
});

const metadataSchema = z.looseObject({
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string().default(''),
  resourceVersion: z.string().default(''),
  generation: z.number().int().optional(),
  labels: texts.optional(),
  annotations: texts.optional(),
  creationTimestamp: z.string().nullish(),
  deletionTimestamp: z.string().nullish(),
  ownerReferences: z.array(ownerSchema).optional(),
});

const part = z.record(z.string(), z.unknown());

export const objectSchema = z.looseObject({
  kind: z.string().optional(),
  apiVersion: z.string().optional(),
  metadata: metadataSchema,
  spec: part.optional(),
  status: part.optional(),
});

/** An object of any kind. `metadata` is checked; read `spec` and `status` by a schema of their own. */
export type KubeObject = z.output<typeof objectSchema>;

export const listSchema = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string(), continue: z.string().optional() }),
  // Go writes an empty list as null.
  items: z.array(objectSchema).nullish(),
});

/** The form of Kubernetes' own errors. */
export const statusSchema = z.looseObject({
  kind: z.literal('Status'),
  message: z.string().default(''),
  reason: z.string().default(''),
  code: z.number().int().optional(),
  details: z
    .looseObject({
      retryAfterSeconds: z.number().optional(),
      causes: z.array(z.looseObject({ reason: z.string().default(''), message: z.string().default('') })).nullish(),
    })
    .optional(),
});

export type KubeStatus = z.output<typeof statusSchema>;

export const watchLineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED']), object: objectSchema }),
  z.object({
    type: z.literal('BOOKMARK'),
    object: z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string() }) }),
  }),
  z.object({ type: z.literal('ERROR'), object: statusSchema }),
]);

/** A change of an object, or the bare news that the stream is complete up to a version. */
export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

export const versionSchema = z.looseObject({ major: z.string(), minor: z.string(), gitVersion: z.string() });
