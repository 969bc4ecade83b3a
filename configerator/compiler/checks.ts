import { conveyorError, type ConveyorError } from '../../domain/errors';
import type { CompiledValue, Context, UncheckedValue } from './context';
import type { ValueCheckResult, JobFailure } from './job';
import { NoResult } from './process';
import { toProgramError } from './programs';
import { getStem } from './tree';

type SchemaValue = UncheckedValue & { readonly schema: NonNullable<UncheckedValue['schema']> };

/**
 * Checks values and returns the valid ones in their distributed form. Values of one schema file are checked together,
 * separately from the programs that made them.
 */
export async function checkAll(context: Context, made: readonly UncheckedValue[]): Promise<CompiledValue[]> {
  const bySchema = new Map<string, SchemaValue[]>();
  for (const one of made)
    if (one.schema !== null) {
      const owned = { ...one, schema: one.schema };
      const others = bySchema.get(one.schema.file);
      if (others) others.push(owned);
      else bySchema.set(one.schema.file, [owned]);
    }
  const checked = await Promise.all([...bySchema].map(([schema, values]) => checkThose(context, schema, values)));
  return [
    ...made.filter(({ schema }) => schema === null).map((one) => toCompiledValue(one, one.text)),
    ...checked.flat(),
  ];
}

const toCompiledValue = ({ path, file, sources }: UncheckedValue, text: string): CompiledValue => ({
  path,
  text,
  file,
  sources,
});

async function checkThose(
  context: Context,
  schema: string,
  values: readonly SchemaValue[],
): Promise<readonly CompiledValue[]> {
  const { graph, run, say } = context;
  const beside = `${getStem(schema)}.validate.ts`;
  const validators = graph.has(beside) ? beside : null;
  const modules = graph.modulesOf(validators === null ? [schema] : [schema, validators]);
  const jobs = values.map(({ path, text, schema: { name } }) => ({ path, name, json: text }));
  try {
    const { outcome } = await run({ kind: 'check', schema, validators, modules, values: jobs });
    if ('kind' in outcome) {
      say(toCheckError(context, schema, validators, outcome));
      return [];
    }
    return values.flatMap((value, index) =>
      acceptValue(context, value, outcome[index] ?? { misfit: 'it got no result' }),
    );
  } catch (error) {
    if (!(error instanceof NoResult)) throw error;
    const { at, how } = error;
    const whose = { path: at?.path ?? schema, invariant: at?.invariant ?? 'its schema', file: validators ?? schema };
    say(conveyorError('config-validator-failed', { ...whose, how }));
    return [];
  }
}

function acceptValue({ graph, say }: Context, value: SchemaValue, checked: ValueCheckResult): readonly CompiledValue[] {
  const { path, file, schema, text, isRaw } = value;
  if ('json' in checked) return [toCompiledValue(value, isRaw ? text : checked.json)];
  const validators = `${getStem(schema.file)}.validate.ts`;
  if ('threw' in checked) {
    say(
      conveyorError('config-validator-failed', {
        path,
        invariant: checked.invariant,
        file: validators,
        how: checked.threw,
      }),
    );
    return [];
  }
  const chain = isRaw ? [] : graph.chain(file, schema.file);
  const by = 'misfit' in checked ? `${schema.name} of ${schema.file}` : `${checked.invariant} of ${validators}`;
  const why = 'misfit' in checked ? checked.misfit : checked.refused;
  say(conveyorError('config-value-refused', { path, file, by, why, chain }));
  return [];
}

/** The schema or its validators could not even be loaded. */
function toCheckError(
  { graph }: Context,
  schema: string,
  validators: string | null,
  failure: JobFailure,
): ConveyorError {
  const at = failure.kind === 'threw' ? failure.where?.replace(/:\d+$/, '') : undefined;
  return toProgramError(graph, validators !== null && at !== schema ? validators : schema, failure);
}
