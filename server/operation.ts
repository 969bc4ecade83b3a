import type { z } from 'zod';

type HttpMethod = 'get' | 'post' | 'put';

export interface HttpOperation {
  readonly method: HttpMethod;
  readonly path: string;
  readonly summary: string;
  readonly status: 200 | 201 | 202 | 204;
  /** `read`: readers need a token where `reads` of the configuration requires one. */
  readonly security: 'read' | 'token' | 'signed' | 'key';
  readonly request?: z.ZodType;
  readonly answer?: z.ZodType;
  /** The query parameters. */
  readonly query?: z.ZodObject;
  readonly headers?: readonly (readonly [name: string, required: boolean, description: string])[];
  /** Responses in addition to the common errors. */
  readonly also?: Readonly<Record<number, string>>;
}

const IDEMPOTENCY_HEADER = [['Idempotency-Key', false, 'The same key gives the same release.']] as const;
export const REFUSED = { 403: 'Not an owner', 404: 'There is no such thing', 409: 'Not in this state' };
export const getOperation = (path: string, summary: string, answer: z.ZodType, query?: z.ZodObject): HttpOperation => ({
  method: 'get',
  path,
  summary,
  status: 200,
  security: 'read',
  answer,
  ...(query === undefined ? {} : { query }),
  also: { 404: REFUSED[404] },
});

/** An operation that starts something, at most once for each key. */
export const startOperation = (
  path: string,
  summary: string,
  request: z.ZodType,
  answer: z.ZodType,
): HttpOperation => ({
  method: 'post',
  path,
  summary,
  status: 202,
  security: 'token',
  request,
  answer,
  headers: IDEMPOTENCY_HEADER,
  also: { ...REFUSED, 422: 'An artifact is missing, or none of the pipeline' },
});
