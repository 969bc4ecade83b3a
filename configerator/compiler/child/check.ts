import type { Invariant } from '../../../sdk/defineConfig';
import type { At, ValueCheckResult, CheckJob, CheckResult } from '../job';
import { canonicalValue, NoJson } from './canonical';
import { toJobFailure, findFlood, describeMisfit, describeThrown } from './failures';
import { Loader } from './loader';
import { MOMENT } from './moments';

/** Validates values against a schema and its invariants. `say` reports each step before it runs, for the process that may have to kill this one. */
export function runCheck(job: CheckJob, say: (at: At) => void): CheckResult {
  const loader = new Loader(job.modules, MOMENT);
  try {
    const schemas = loader.load(job.schema);
    const invariants = job.validators === null ? [] : listInvariants(loader.load(job.validators));
    const outcome = job.values.map((value) => {
      const schema = schemas[value.name];
      const rules = { schema, invariants: invariants.filter(([, one]) => one.schema === schema) };
      return check(loader, value, rules, say);
    });
    return { kind: 'check', outcome: findFlood(loader) ?? outcome };
  } catch (error) {
    return { kind: 'check', outcome: toJobFailure(error, loader) };
  }
}

type NamedInvariants = readonly (readonly [name: string, invariant: Invariant])[];

const listInvariants = (exports: Readonly<Record<string, unknown>>): NamedInvariants =>
  Object.entries(exports).flatMap(([name, exported]) =>
    (exported as { readonly kind?: unknown } | null | undefined)?.kind === 'invariant'
      ? [[name, exported as Invariant] as const]
      : [],
  );

interface Rules {
  readonly schema: unknown;
  readonly invariants: NamedInvariants;
}

function check(
  { realm }: Loader,
  { path, json }: CheckJob['values'][number],
  { schema, invariants }: Rules,
  say: (at: At) => void,
): ValueCheckResult {
  say({ path, invariant: null });
  if (!isSchema(schema)) return { misfit: 'its schema file has no such export' };
  let value: unknown;
  let text: string;
  try {
    value = realm.parse(schema, json);
    text = canonicalValue(value);
  } catch (error) {
    return { misfit: error instanceof NoJson ? error.message : (describeMisfit(error) ?? describeThrown(error)) };
  }
  for (const [invariant, { holds }] of invariants) {
    say({ path, invariant });
    try {
      const answer = realm.judge(holds, value, path);
      if (answer === undefined) continue;
      if (typeof answer !== 'string') return { invariant, threw: 'it answered neither true nor why not' };
      return { invariant, refused: answer.slice(0, 500) };
    } catch (error) {
      return { invariant, threw: describeThrown(error) };
    }
  }
  return { json: text };
}

const isSchema = (schema: unknown): boolean =>
  typeof (schema as { readonly parse?: unknown } | null | undefined)?.parse === 'function';
