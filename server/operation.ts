import type { z } from 'zod';

type HttpMethod = 'get' | 'post' | 'put';

export interface HttpOperation {
  readonly method: HttpMethod;
  readonly path: string;
  readonly summary: string;
  readonly status: 200 | 201 | 202 | 204;
  /** `read`: whoever only looks, who needs a token where `reads` of the configuration says so. */
  readonly security: 'read' | 'token' | 'signed' | 'key';
  readonly request?: z.ZodType;
  readonly answer?: z.ZodType;
  /** What may stand behind the `?` of the address. */
  readonly query?: z.ZodObject;
  readonly headers?: readonly (readonly [name: string, required: boolean, description: string])[];
  /** What else may come back, besides the errors that everything may give. */
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

/** What starts something; the same key starts it once. */
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
