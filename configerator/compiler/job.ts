/** The limit on a program's output, which is discarded. */
export const PROGRAM_OUTPUT_CHARS = 64 * 1024;

/** A job for a separate process. It contains code and no folder, so the process can read nothing else of the tree. */
export type CompilerJob = ParseJob | ProgramJob | CheckJob | RawJob;

/** A file of the tree that a program imports, directly or not: CommonJS, or unchanged JSON. */
export interface Module {
  readonly path: string;
  readonly code: string;
  /** Its imports of other files: path by specifier. */
  readonly imports: Readonly<Record<string, string>>;
}

/** TypeScript, which is only read. */
export interface ParseJob {
  readonly kind: 'parse';
  readonly files: readonly { readonly path: string; readonly source: string }[];
}

export interface ProgramJob {
  readonly kind: 'program';
  readonly file: string;
  readonly modules: readonly Module[];
}

/** Values of one schema file, from any author. */
export interface CheckJob {
  readonly kind: 'check';
  readonly schema: string;
  readonly validators: string | null;
  readonly modules: readonly Module[];
  readonly values: readonly { readonly path: string; readonly name: string; readonly json: string }[];
}

export interface RawJob {
  readonly kind: 'raw';
  readonly files: readonly { readonly file: string; readonly text: string; readonly schema: string | null }[];
}

/** The process writes these to a separate pipe, one JSON line each: its steps, then its result. */
export type Line = { readonly at: At } | { readonly result: JobResult };

/** The step to blame if no further report arrives. */
export interface At {
  readonly path: string;
  readonly invariant: string | null;
}

export type JobResult = ParseResult | ProgramResult | CheckResult | RawResult;

export interface ParseResult {
  readonly kind: 'parse';
  /** For each file, in the order of the job: CommonJS, or why it cannot be compiled. */
  readonly outcome: readonly ({ readonly code: string } | { readonly why: string })[];
}

export interface ProgramResult {
  readonly kind: 'program';
  readonly outcome: readonly ExportedValue[] | JobFailure;
}

export interface ExportedValue {
  /** The part of the value's path after that of the program: '' for its only value. */
  readonly name: string;
  /** The file `*.schema.ts` that exports its schema, and the name of that export; null for a schema in the program itself. */
  readonly schema: { readonly file: string; readonly name: string } | null;
  /** Canonical JSON: the input of the schema if that has a file, else its output. */
  readonly json: string;
}

export type JobFailure =
  | { readonly kind: 'threw'; readonly why: string; readonly where: string | null }
  | { readonly kind: 'import'; readonly from: string; readonly specifier: string; readonly why: string }
  | { readonly kind: 'varies'; readonly name: string; readonly first: string; readonly second: string }
  | { readonly kind: 'misfit'; readonly name: string; readonly why: string };

export interface CheckResult {
  readonly kind: 'check';
  /** For each value, in the order of the job; or why none could be checked. */
  readonly outcome: readonly ValueCheckResult[] | JobFailure;
}

export type ValueCheckResult =
  | { readonly json: string }
  | { readonly misfit: string }
  | { readonly invariant: string; readonly refused: string }
  | { readonly invariant: string; readonly threw: string };

export interface RawResult {
  readonly kind: 'raw';
  /** For each file, in the order of the job: null if it is valid, else the fault in it or in its schema. */
  readonly outcome: readonly (null | { readonly why: string; readonly of: 'text' | 'value' | 'schema' })[];
}
