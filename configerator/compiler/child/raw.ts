import Ajv from 'ajv';
import { isScalar, LineCounter, parseDocument, visit } from 'yaml';
import type { At, RawJob, RawResult } from '../job';
import { parseStrictJson } from './strictJson';

/** Checks raw files against the formats of their names, and against the JSON Schemas next to them. */
export function runRaw({ files }: RawJob, say: (at: At) => void): RawResult {
  const outcome = files.map(({ file, text, schema }) => {
    say({ path: file, invariant: null });
    const read = attempt(() => (file.endsWith('.json') ? parseStrictJson(text) : parseYaml(text)));
    if ('why' in read) return { why: read.why, of: 'text' as const };
    return schema === null ? null : checkRaw(schema, read.value);
  });
  return { kind: 'raw', outcome };
}

/** Refuses duplicate keys, and numbers that only became infinite by their size: `.inf` is explicit. */
function parseYaml(text: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  const [error] = document.errors;
  if (error) throw error;
  visit(document, (_, node) => {
    if (!isScalar(node) || typeof node.value !== 'number' || Number.isFinite(node.value)) return;
    const { source = '', range } = node;
    if (/^[-+]?\.(inf|nan)$/i.test(source)) return;
    const { line, col } = lineCounter.linePos(range?.[0] ?? 0);
    throw new Error(`line ${line}, column ${col}: ${source.slice(0, 60)} is too large for a number`);
  });
  return document.toJS();
}

function checkRaw(schema: string, value: unknown): RawResult['outcome'][number] {
  const ajv = new Ajv({ allErrors: true, format: 'full' });
  const compiled = attempt(() => ajv.compile(parseStrictJson(schema) as object));
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
