import type { z } from 'zod';
import type { Invariant } from '../../../sdk/defineConfig';
import type { At, Checked, CheckJob, CheckResult } from '../job';
import { canonicalValue, NoJson } from './canonical';
import { failureOf, misfitOf, wordsOf } from './failures';
import { Loader } from './loader';

/** Holds values against a schema and its invariants. `say` reports the step that comes next, for whoever has to end it. */
export function runCheck(job: CheckJob, say: (at: At) => void): CheckResult {
  const loader = new Loader(job.modules, 0);
  try {
    const schemas = loader.load(job.schema);
    const invariants = job.validators === null ? [] : invariantsOf(loader.load(job.validators));
    const outcome = job.values.map((value) => {
      const schema = schemas[value.name] as z.ZodType;
      return check(
        value,
        schema,
        invariants.filter(([, one]) => one.schema === schema),
        say,
      );
    });
    return { kind: 'check', outcome };
  } catch (error) {
    return { kind: 'check', outcome: failureOf(error, loader) };
  }
}

type Named = readonly (readonly [name: string, invariant: Invariant])[];

const invariantsOf = (exports: Readonly<Record<string, unknown>>): Named =>
  Object.entries(exports).flatMap(([name, exported]) =>
    (exported as { readonly kind?: unknown } | null | undefined)?.kind === 'invariant'
      ? [[name, exported as Invariant] as const]
      : [],
  );

function check(
  { path, json }: CheckJob['values'][number],
  schema: z.ZodType | undefined,
  invariants: Named,
  say: (at: At) => void,
): Checked {
  say({ path, invariant: null });
  if (typeof schema?.parse !== 'function') return { misfit: 'its schema file has no such export' };
  let value: unknown;
  let text: string;
  try {
    value = schema.parse(JSON.parse(json));
    text = canonicalValue(value);
  } catch (error) {
    return { misfit: error instanceof NoJson ? error.message : (misfitOf(error) ?? wordsOf(error)) };
  }
  for (const [invariant, { holds }] of invariants) {
    say({ path, invariant });
    try {
      const answer = holds(value, { path });
      if (answer === true) continue;
      if (typeof answer !== 'string') return { invariant, threw: 'it answered neither true nor why not' };
      return { invariant, refused: answer.slice(0, 500) };
    } catch (error) {
      return { invariant, threw: wordsOf(error) };
    }
  }
  return { json: text };
}
