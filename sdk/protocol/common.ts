import { z } from 'zod';
import type { Artifact } from '../../domain/artifact';
import type { AnyRules } from './contradictions/rules';

/** Shapes that every extension protocol shares (docs/reference/protocols.md#rules-for-all). */
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

/** Sent with every request, so that services can be stateless. `config` is the action's own, opaque to Conveyor. */
export const contextSchema = z.object({
  pipeline: z.string(),
  release: z.number().int(),
  deployId: z.string(),
  actor: z.string(),
  config: z.record(z.string(), z.unknown()),
  /**
   * Of the lock that a deploy holds on its service. It rises with every holder: a push type that has seen a higher one refuses
   * `executeUpdates`, unless its urgency is `revert`, from a deploy that lost the service without knowing.
   */
  fence: z.number().int().optional(),
});
export type CallContext = z.infer<typeof contextSchema>;

export const errorBodySchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), retryable: z.boolean() }),
});
export type ErrorBody = z.infer<typeof errorBodySchema>;

export const emptySchema = z.object({});

export const MIB = 1_048_576;

/** One method of a protocol: what goes in (besides `context`), what comes out, whether it changes anything. */
export interface Method<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  readonly request: I;
  readonly response: O;
  readonly mutates: boolean;
  /** An answer is 1 MiB at most, unless this says otherwise; in bytes, decompressed. */
  readonly maxAnswerBytes?: number;
  /** A service may leave it out. */
  readonly optional?: true;
  /** What cannot be true in an answer that its schema allows. */
  readonly contradictions?: AnyRules;
  /** Not called by Conveyor but by the fleet, so that there is no context to send. */
  readonly contextFree?: true;
  /** What an implementation is given, where that says in full what the request says once. */
  readonly expand?: (request: never) => object;
}

export type Protocol = Readonly<Record<string, Method>>;
export type RequestOf<M extends Method> = M extends { expand: (request: never) => infer R } ? R : z.infer<M['request']>;
/** A request as callers write it, before defaults are filled in. */
export type RequestInput<M extends Method> = z.input<M['request']>;
export type ResponseOf<M extends Method> = z.infer<M['response']>;

/** What the body of a call holds: the request, and the context unless there is none. */
export const bodySchema = (method: Method): z.ZodObject =>
  method.contextFree ? method.request : method.request.safeExtend({ context: contextSchema });
