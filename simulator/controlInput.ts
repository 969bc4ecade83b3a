import { z } from 'zod';
import { parseNestedJson } from '../domain/json';
import { ExtensionError, formatFieldPath } from '../sdk/server';

/** A duration or a time, in ms. */
export const milliseconds = z.number().nonnegative();

/** The body of a call; an empty body is an empty object. */
export async function body(request: Request): Promise<unknown> {
  const text = await request.text();
  try {
    return text === '' ? {} : parseNestedJson(text);
  } catch (error) {
    throw new ExtensionError('invalid-request', `body: ${(error as SyntaxError).message}`);
  }
}

/** The value as its schema parses it; else a 400 that names each wrong field. */
export function parseInput<S extends z.ZodType>(schema: S, value: unknown, field?: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${field ?? formatFieldPath(issue.path)}: ${issue.message}`);
  throw new ExtensionError('invalid-request', problems.join('; '));
}
