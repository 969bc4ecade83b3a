import type { Context } from 'hono';
import type { z } from 'zod';
import { conveyorError, unfitError } from '../domain/errors';
import type { InvalidInput } from '../domain/unfit';
import { parseNestedJson } from '../domain/json';
import { readUpTo } from '../sdk/bodyLimit';
import type { ReadingQuota } from './bodies';

const MAX_REQUEST_BYTES = 1_048_576;
/** A slower sender would block others. */
const BODY_TIMEOUT_MS = 10_000;

/**
 * The bytes of a body, exactly as they arrived. @throws ConveyorError `too-large`, `too-slow`, or the reason with which
 * `reading.signal` was aborted
 */
export async function readBytes(
  context: Context,
  { maxBytes = MAX_REQUEST_BYTES, ...reading }: Partial<ReadingQuota> & { readonly maxBytes?: number } = {},
): Promise<Uint8Array> {
  if (Number(context.req.header('content-length') ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  const stream = context.req.raw.body;
  if (stream === null) return new Uint8Array();
  const bytes = await readUpTo(stream, maxBytes, { ...reading, patienceMs: BODY_TIMEOUT_MS });
  if (bytes === 'too-large') throw bodyTooLarge(maxBytes);
  if (bytes === 'unwanted') throw reading.signal?.reason as Error;
  if (bytes === 'too-slow') throw conveyorError('too-slow', { seconds: BODY_TIMEOUT_MS / 1000 });
  return bytes;
}

/** The validated body of a request. A missing body is an empty object. @throws ConveyorError `invalid-request`, naming every field */
export async function readJson<S extends z.ZodType>(context: Context, schema: S): Promise<z.output<S>> {
  const bytes = await readBytes(context);
  return parseJsonBody(bytes.length === 0 ? '{}' : Buffer.from(bytes).toString('utf8'), schema);
}

/** The validated query of a request. @throws ConveyorError `invalid-request` */
export const parseQuery = <S extends z.ZodType>(context: Context, schema: S): z.output<S> =>
  parseWithSchema(context.req.query(), schema);

export const parseJsonBody = <S extends z.ZodType>(text: string, schema: S): z.output<S> =>
  parseWithSchema(jsonValue(text), schema);

/** Enough to be useful, although a body can have a problem for each of its keys. */
const MAX_PROBLEMS = 100;

/** @throws ConveyorError `invalid-request` */
export function parseWithSchema<S extends z.ZodType>(value: unknown, schema: S): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    ({ path, message }) => `${path.map(String).join('.') || 'body'}: ${message}`,
  );
  const more = problems.length > MAX_PROBLEMS ? [`and ${problems.length - MAX_PROBLEMS} more`] : [];
  throw conveyorError('invalid-request', { detail: [...problems.slice(0, MAX_PROBLEMS), ...more].join('; ') });
}

function jsonValue(text: string): unknown {
  try {
    return parseNestedJson(text);
  } catch (error) {
    throw conveyorError('invalid-request', { detail: `body: ${(error as SyntaxError).message}` });
  }
}

/** @throws ConveyorError `over-limit`, `invalid-text` */
export function rejectInvalidInput(unfit: InvalidInput | undefined): void {
  if (unfit) throw unfitError(unfit);
}

const bodyTooLarge = (maxBytes: number): Error => conveyorError('too-large', { limit: `${maxBytes / 1_048_576} MiB` });
