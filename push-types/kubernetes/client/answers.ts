import type { z } from 'zod';
import { KubernetesError, type RequestWords } from './errors';
import { objectSchema, type KubeObject } from './objects';

/** Answers of an API server, which are checked before they are used. */

/** A review has no name, so it gets an empty one. */
export function readObject(words: RequestWords, answer: unknown, isNameless = false): KubeObject {
  if (!isNameless) return checkAnswer(words, objectSchema, answer);
  const review = answer as { readonly metadata?: object };
  return checkAnswer(words, objectSchema, { ...review, metadata: { name: '', ...review.metadata } });
}

export function checkAnswer<T extends z.ZodType>(words: RequestWords, schema: T, answer: unknown): z.output<T> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refuseClusterAnswer(
    words,
    `its answer is not as expected: ${issue?.path.map(String).join('.')}: ${issue?.message}`,
  );
}

export const refuseClusterAnswer = (words: RequestWords, message: string): KubernetesError =>
  new KubernetesError(words, { kind: 'Unavailable', status: 200, message });
