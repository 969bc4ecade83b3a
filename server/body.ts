import type { Context } from 'hono';
import type { z } from 'zod';
import { conveyorError, unfitError } from '../domain/errors';
import type { Unfit } from '../domain/excess';
import { readUpTo } from '../sdk/bodyLimit';
import type { Reading } from './bodies';

const MAX_BYTES = 1_048_576;
/** Whoever sends more slowly keeps others out. */
const PATIENCE_MS = 10_000;

/**
 * The bytes of a body, exactly as they came. @throws ConveyorError `too-large`, `too-slow`, or what
 * `reading.signal` aborted with
 */
export async function readBytes(context: Context, reading: Partial<Reading> = {}): Promise<Uint8Array> {
  if (Number(context.req.header('content-length') ?? 0) > MAX_BYTES) throw tooLarge();
  const stream = context.req.raw.body;
  if (stream === null) return new Uint8Array();
  const bytes = await readUpTo(stream, MAX_BYTES, { ...reading, patienceMs: PATIENCE_MS });
  if (bytes === 'too-large') throw tooLarge();
  if (bytes === 'unwanted') throw reading.signal?.reason as Error;
  if (bytes === 'too-slow') throw conveyorError('too-slow', { seconds: PATIENCE_MS / 1000 });
  return bytes;
}

/** What a body says, checked. No body is an empty object. @throws ConveyorError `invalid-request`, naming every field */
export async function readJson<S extends z.ZodType>(context: Context, schema: S): Promise<z.output<S>> {
  const bytes = await readBytes(context);
  return parseJson(bytes.length === 0 ? '{}' : Buffer.from(bytes).toString('utf8'), schema);
}

/** What the address asks for, checked. @throws ConveyorError `invalid-request` */
export const queryOf = <S extends z.ZodType>(context: Context, schema: S): z.output<S> =>
  parsed(context.req.query(), schema);

export const parseJson = <S extends z.ZodType>(text: string, schema: S): z.output<S> => parsed(valueOf(text), schema);

function parsed<S extends z.ZodType>(value: unknown, schema: S): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    ({ path, message }) => `${path.map(String).join('.') || 'body'}: ${message}`,
  );
  throw conveyorError('invalid-request', { detail: problems.join('; ') });
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw conveyorError('invalid-request', { detail: 'body: not JSON' });
  }
}

/** @throws ConveyorError `over-limit`, `invalid-text` */
export function refuse(unfit: Unfit | undefined): void {
  if (unfit) throw unfitError(unfit);
}

const tooLarge = (): Error => conveyorError('too-large', { limit: '1 MiB' });
