import { z } from 'zod';
import type { Artifact } from '../../domain/artifact';
import type { AnyRules } from './contradictions/rules';

/** An artifact, as all extension protocols carry it (docs/reference/protocols.md#rules-for-all). */
export const artifactSchema = z.object({
  name: z.string(),
  kind: z.string(),
  version: z.string(),
  digest: z.string().optional(),
  uri: z.string().optional(),
  producedBy: z.string().optional(),
  builtFrom: z.object({ repository: z.string(), revision: z.string(), target: z.string().optional() }).optional(),
  metadata: z.record(z.string(), z.string()).default({}),
}) satisfies z.ZodType<Artifact>;

/** Sent with every request but those to task controllers, so that services can be stateless. `config` is the action's own, opaque to Conveyor. */
export const contextSchema = z.object({
  pipeline: z.string(),
  release: z.number().int(),
  deployId: z.string(),
  actor: z.string(),
  config: z.record(z.string(), z.unknown()),
  /**
   * The fence of the lock that a deploy holds on its service. It rises with every holder. A push type that has seen a higher one refuses
   * `removeUnits`, and `executeUpdates` unless its urgency is `revert`: the deploy lost the service without knowing it.
   */
  fence: z.number().int().optional(),
});
/** The `context` in the body of a call (docs/reference/protocols.md#rules-for-all). */
export type CallContext = z.infer<typeof contextSchema>;

/** The body of an answer that reports an error (docs/reference/protocols.md#rules-for-all). */
export const errorBodySchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), retryable: z.boolean() }),
});
/** The body of an error: its code, a message for people, and whether the call may succeed if it is tried again. */
export type ErrorBody = z.infer<typeof errorBodySchema>;

/** The answer `{}` of methods that return nothing, such as `cancelRun`. */
export const emptySchema = z.object({});

/** One mebibyte, in bytes. */
export const MIB = 1_048_576;

/** One method of a protocol: its request (without `context`), its response, and whether it changes anything. */
export interface Method<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  readonly request: I;
  readonly response: O;
  readonly mutates: boolean;
  /** The most bytes of an answer, decompressed. Default 1 MiB. */
  readonly maxAnswerBytes?: number;
  /** A service may leave it out. */
  readonly optional?: true;
  /** Contradictions in answers that the schema allows. */
  readonly contradictions?: AnyRules;
  /** Called by the fleet instead of Conveyor, so there is no context to send. */
  readonly contextFree?: true;
  /** Expands shared parts of a request in full, for the implementation. */
  readonly expand?: (request: never) => object;
}

/** The methods of a protocol, by name. */
export type Protocol = Readonly<Record<string, Method>>;
/** A request as implementations get it: defaults are filled in, and shared parts expanded. */
export type RequestOf<M extends Method> = M extends { expand: (request: never) => infer R } ? R : z.infer<M['request']>;
/** A request as callers write it, before defaults are filled in. */
export type RequestInput<M extends Method> = z.input<M['request']>;
/** An answer as callers get it: defaults are filled in. */
export type ResponseOf<M extends Method> = z.infer<M['response']>;

/** The body of a call: the request, and the context if there is one. */
export const bodySchema = (method: Method): z.ZodObject =>
  method.contextFree ? method.request : method.request.safeExtend({ context: contextSchema });
