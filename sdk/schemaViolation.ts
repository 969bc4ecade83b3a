import type { z } from 'zod';
import { onOneLine } from '../domain/plainText';
import type { Contradiction } from './protocol/contradictions/rules';
import { formatFieldPath } from './server';

/** Longer values are cut: one text of an answer may have many megabytes. */
const MAX_VALUE_CHARACTERS = 80;
/** How many characters are shown before a number that JSON does not have: its field. */
const BEFORE_NUMBER_CHARACTERS = 40;
const MAX_TEXT_CHARACTERS = 200;

/** The first field of an answer that its schema does not allow, with the rule and the actual value. */
export function explainViolation(answer: unknown, { issues: [issue] }: z.ZodError): Contradiction {
  const path = issue?.path ?? [];
  const value = showValue(path.reduce(readField, answer));
  return {
    field: onOneLine(cutAfter(formatFieldPath(path), MAX_TEXT_CHARACTERS)),
    detail: `${issue?.message ?? 'not as its schema says'} (it is ${value})`,
  };
}

/**
 * The first part of an answer that is not JSON. Programs in many languages write `NaN` and `Infinity`, which JSON does
 * not have; of a longer answer the part around the first of these is shown.
 */
export function excerptNotJson(text: string): string {
  const number = text.length > MAX_TEXT_CHARACTERS ? /[[:,]\s*-?(?:NaN|Infinity)\b/.exec(text) : null;
  if (number === null) return onOneLine(cutAfter(text, MAX_TEXT_CHARACTERS));
  const from = Math.max(0, number.index - BEFORE_NUMBER_CHARACTERS);
  const part = text.slice(from, number.index + number[0].length);
  return onOneLine(`${from > 0 ? '…' : ''}${part}…`);
}

/** On one line, in the notation of JSON. */
function showValue(value: unknown): string {
  if (value === undefined) return 'missing';
  // JSON.parse reads 1e999 as Infinity, and JSON.stringify writes that as null.
  if (typeof value === 'number') return String(value);
  return onOneLine(cutAfter(JSON.stringify(value), MAX_VALUE_CHARACTERS));
}

const readField = (value: unknown, key: PropertyKey): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<PropertyKey, unknown>>)[key]
    : undefined;

const cutAfter = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text);
