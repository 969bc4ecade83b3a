import { Scalar } from 'yaml';

/** A plain text that each reader of YAML 1.1 and 1.2 takes for a text, not for a number, a date or a truth value. */
const PLAIN_WORD =
  /^(?!(?:true|false|yes|no|on|off|null|nan|inf|y|n)$)(?:[a-z/][\w./:@+-]*[\w/]|\d+\.\d+\.\d+(?:[-.+][\w.+-]*\w)?)$/i;

/** The text of a value in a file, in the manner of the scalar that it replaces. */
export function quoteScalar(value: string, { type }: Scalar, mustBeJson: boolean): string {
  if (mustBeJson || type === Scalar.QUOTE_DOUBLE) return JSON.stringify(value);
  if (type === Scalar.QUOTE_SINGLE) return `'${value.replaceAll("'", "''")}'`;
  return PLAIN_WORD.test(value) ? value : JSON.stringify(value);
}
