import { conveyorError, type ConveyorError } from '../../domain/errors';
import { parseStrictJson } from './child/strictJson';
import type { Context, UncheckedValue, ValueSource } from './context';
import { NoResult } from './process';
import { rawPath, getStem } from './tree';

/** The number of files that share a process. */
const TOGETHER = 200;

/**
 * Reads raw files and checks them against the formats of their names and the JSON Schemas next to them; their text
 * stays unchanged.
 */
export async function readRaw(context: Context, raws: readonly ValueSource[]): Promise<readonly UncheckedValue[]> {
  const [plain, others] = split(
    raws,
    ({ file }) => file.endsWith('.json') && !context.graph.has(`${getStem(file)}.schema.json`),
  );
  const made = plain.flatMap((raw) => readPlain(context, raw));
  const groups = Array.from({ length: Math.ceil(others.length / TOGETHER) }, (_, index) =>
    others.slice(index * TOGETHER, (index + 1) * TOGETHER),
  );
  return [...made, ...(await Promise.all(groups.map((group) => readGroup(context, group)))).flat()];
}

function split<T>(all: readonly T[], isFirst: (one: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

/** JSON without a JSON Schema parses in linear time, so it needs no separate process. */
function readPlain({ graph, tree, say }: Context, raw: ValueSource): readonly UncheckedValue[] {
  const text = tree.read(raw.file);
  try {
    parseStrictJson(text);
    return [toRawValue(raw, text, graph.has(`${getStem(raw.file)}.schema.ts`))];
  } catch (error) {
    say(toRawError(raw.file, { why: error instanceof Error ? error.message : String(error), of: 'text' }));
    return [];
  }
}

async function readGroup(
  { graph, tree, run, say }: Context,
  raws: readonly ValueSource[],
): Promise<readonly UncheckedValue[]> {
  const files = raws.map(({ file }) => {
    const schema = `${getStem(file)}.schema.json`;
    return { file, text: tree.read(file), schema: graph.has(schema) ? tree.read(schema) : null };
  });
  try {
    const { outcome } = await run({ kind: 'raw', files });
    return raws.flatMap((raw, index) => {
      const wrong = outcome[index] ?? null;
      if (wrong === null)
        return [toRawValue(raw, files[index]?.text ?? '', graph.has(`${getStem(raw.file)}.schema.ts`))];
      say(toRawError(raw.file, wrong));
      return [];
    });
  } catch (error) {
    if (!(error instanceof NoResult)) throw error;
    say(
      conveyorError('config-program-failed', {
        file: error.at?.path ?? raws[0]?.file ?? '',
        how: `reading it failed: ${error.how}`,
      }),
    );
    return [];
  }
}

const toRawValue = (raw: ValueSource, text: string, isTyped: boolean): UncheckedValue => ({
  ...raw,
  path: rawPath(raw.file),
  text,
  schema: isTyped && raw.file.endsWith('.json') ? { file: `${getStem(raw.file)}.schema.ts`, name: 'default' } : null,
  isRaw: true,
});

type Wrong = { readonly why: string; readonly of: 'text' | 'value' | 'schema' };

function toRawError(file: string, { why, of }: Wrong): ConveyorError {
  const schema = `${getStem(file)}.schema.json`;
  if (of === 'schema')
    return conveyorError('config-file-unusable', { file: schema, why: `it is not a JSON Schema: ${why}` });
  const by = of === 'text' ? (file.endsWith('.json') ? 'JSON' : 'YAML') : schema;
  return conveyorError('config-value-refused', { path: rawPath(file), file, by, why, chain: [] });
}
