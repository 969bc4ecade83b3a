import Ajv from 'ajv';
import { parse } from 'yaml';
import type { At, RawJob, RawResult } from '../job';

/** Holds raw files against what their names say, and against the JSON Schemas beside them. */
export function runRaw({ files }: RawJob, say: (at: At) => void): RawResult {
  const outcome = files.map(({ file, text, schema }) => {
    say({ path: file, invariant: null });
    const read = attempt(() => (file.endsWith('.json') ? (JSON.parse(text) as unknown) : (parse(text) as unknown)));
    if ('why' in read) return { why: read.why, of: 'text' as const };
    return schema === null ? null : checkRaw(schema, read.value);
  });
  return { kind: 'raw', outcome };
}

function checkRaw(schema: string, value: unknown): RawResult['outcome'][number] {
  const ajv = new Ajv({ allErrors: true, format: 'full' });
  const compiled = attempt(() => ajv.compile(JSON.parse(schema) as object));
  if ('why' in compiled) return { why: compiled.why, of: 'schema' };
  if (compiled.value(value) === true) return null;
  const [first] = compiled.value.errors ?? [];
  return { why: `${first?.dataPath.slice(1) || 'the value'} ${first?.message ?? 'does not fit'}`, of: 'value' };
}

function attempt<T>(read: () => T): { readonly value: T } | { readonly why: string } {
  try {
    return { value: read() };
  } catch (error) {
    return { why: (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '' };
  }
}
