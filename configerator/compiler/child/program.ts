import type { z } from 'zod';
import type { ConfigDefinition } from '../../../sdk/defineConfig';
import type { At, ExportedValue, JobFailure, ProgramJob, ProgramResult } from '../job';
import { canonicalValue, NoJson } from './canonical';
import { toJobFailure, findFlood, describeMisfit } from './failures';
import { Loader } from './loader';
import { MOMENT, OTHER_MOMENT } from './moments';

const SECOND_ZONE = 'Pacific/Auckland';

/**
 * Runs a program twice from scratch: the second time in another year, hour and zone, which must not change the result.
 */
export function runProgram(job: ProgramJob, say: (at: At) => void): ProgramResult {
  process.env.TZ = 'UTC';
  const loader = new Loader(job.modules, MOMENT);
  // Its time limit begins once its realm is ready.
  say({ path: job.file, invariant: null });
  const first = runProgramOnce(job, loader);
  if (isFailure(first)) return { kind: 'program', outcome: first };
  process.env.TZ = SECOND_ZONE;
  const second = runProgramOnce(job, new Loader(job.modules, OTHER_MOMENT));
  return { kind: 'program', outcome: isFailure(second) ? second : (findVariation(first, second) ?? first) };
}

const isFailure = (outcome: readonly ExportedValue[] | JobFailure): outcome is JobFailure => 'kind' in outcome;

function runProgramOnce({ file }: ProgramJob, loader: Loader): readonly ExportedValue[] | JobFailure {
  try {
    const definitions = readDefinitions(loader.load(file)['default']);
    if (typeof definitions === 'string') return { kind: 'threw', why: definitions, where: null };
    const exported = evaluateDefinitions(definitions, loader);
    return findFlood(loader) ?? exported;
  } catch (error) {
    return toJobFailure(error, loader);
  }
}

type NamedDefinitions = readonly (readonly [name: string, definition: ConfigDefinition])[];

/** The exported values, or the problem with the export. */
function readDefinitions(exported: unknown): NamedDefinitions | string {
  const given = exported as
    { readonly kind?: unknown; readonly configs?: Readonly<Record<string, unknown>> } | undefined;
  if (given?.kind === 'config') return [['', given as unknown as ConfigDefinition]];
  if (given?.kind !== 'configs') return 'its default export is neither defineConfig(…) nor defineConfigs(…)';
  const all = Object.entries(given.configs ?? {});
  const odd = all.find(([name]) => !/^[A-Za-z0-9_-]+$/.test(name))?.[0];
  if (odd !== undefined) return `${JSON.stringify(odd)} is not a name for a value: A-Z, a-z, 0-9, "_" and "-" are`;
  const other = all.find(([, one]) => (one as { readonly kind?: unknown } | null)?.kind !== 'config')?.[0];
  if (other !== undefined) return `${other} is no defineConfig(…)`;
  return all as unknown as NamedDefinitions;
}

function evaluateDefinitions(definitions: NamedDefinitions, loader: Loader): readonly ExportedValue[] | JobFailure {
  const exported: ExportedValue[] = [];
  for (const [name, { schema, value }] of definitions) {
    try {
      const owner = loader.findSchema(schema);
      const json = canonicalValue(owner === null ? (schema as z.ZodType).parse(value) : value);
      exported.push({ name, schema: owner, json });
    } catch (error) {
      if (error instanceof NoJson) return { kind: 'misfit', name, why: error.message };
      const why = describeMisfit(error);
      if (why === null) throw error;
      return { kind: 'misfit', name, why };
    }
  }
  return exported;
}

function findVariation(first: readonly ExportedValue[], second: readonly ExportedValue[]): JobFailure | null {
  const jsonOf = (all: readonly ExportedValue[], name: string) =>
    all.find((one) => one.name === name)?.json ?? 'no value';
  const names = new Set([...first, ...second].map(({ name }) => name));
  for (const name of names) {
    const [before, after] = [jsonOf(first, name), jsonOf(second, name)];
    if (before !== after) return { kind: 'varies', name, ...findDifferingLine(before, after) };
  }
  return null;
}

function findDifferingLine(before: string, after: string): { readonly first: string; readonly second: string } {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const at = a.findIndex((line, index) => line !== b[index]);
  const lineOf = (lines: readonly string[]): string => (lines[Math.max(at, 0)] ?? '').trim().slice(0, 200);
  return { first: lineOf(a), second: lineOf(b) };
}
