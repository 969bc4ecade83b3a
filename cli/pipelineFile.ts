import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { conveyorError, type ConveyorError } from '../domain/errors';
import { parsePipeline, parsePipelineValue, type PipelineRules } from '../domain/spec/parse';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type { Problem } from '../domain/spec/problem';
import type { CheckedFile } from '../render/problems';
import { createCalendarReader } from './calendarFiles';
import { readText } from './textFile';

/** A pipeline file that was read: `spec` is null if the file has errors. */
export interface PipelineFile extends CheckedFile {
  readonly spec: PipelineSpec | null;
}

/**
 * Reads YAML, or runs TypeScript and JavaScript that export `definePipeline({…})`, unless `exec` is false: then such a
 * file is a problem. Throws `file-unreadable`.
 */
export async function readPipelineFile(
  file: string,
  nowMs: number,
  { exec = true, rules }: { readonly exec?: boolean; readonly rules?: PipelineRules } = {},
): Promise<PipelineFile> {
  const text = readText(file);
  const calendars = createCalendarReader(file, nowMs);
  if (!/\.[cm]?[jt]s$/.test(file)) return { file, ...parsePipeline(text, calendars, rules) };
  if (!exec) return { file, spec: null, problems: [NOT_RUN] };
  const loaded = await loadModule(file);
  if ('failure' in loaded) return { file, spec: null, problems: [notLoadable(loaded.failure)] };
  return { file, ...parsePipelineValue(loaded.value, calendars, rules) };
}

/** As `readPipelineFile`, for commands that need the spec: throws `invalid-file` if there is none. */
export async function requirePipelineFile(
  file: string,
  nowMs: number,
  rules?: PipelineRules,
): Promise<PipelineFile & { readonly spec: PipelineSpec }> {
  const read = await readPipelineFile(file, nowMs, rules === undefined ? {} : { rules });
  if (read.spec !== null) return { ...read, spec: read.spec };
  throw invalidFile(read);
}

/** Whether an operand is a file, and not a pipeline: no name of a pipeline has a dot or a slash. */
export const isFile = (given: string): boolean =>
  /[./\\]/.test(given) || (statSync(given, { throwIfNoEntry: false })?.isFile() ?? false);

export const invalidFile = ({ file, problems }: CheckedFile): ConveyorError =>
  conveyorError('invalid-file', { file, problems: problems.filter(({ severity }) => severity === 'error').length });

type ModuleLoadResult = { readonly value: unknown } | { readonly failure: string };

async function loadModule(file: string): Promise<ModuleLoadResult> {
  const { createJiti } = await import('jiti');
  try {
    // The sdk of this command, wherever the file is; `conveyor` is its former name.
    const sdk = join(__dirname, '../sdk');
    const alias = { '@conveyor/sdk': sdk, conveyor: sdk };
    // Its file cache has a predictable name, so another user could plant code there.
    const jiti = createJiti(resolve(file), { fsCache: false, moduleCache: false, interopDefault: false, alias });
    const value = findExportedPipeline(await jiti.import<ModuleExports>(resolve(file)));
    return value === undefined ? { failure: 'it exports neither default nor pipeline' } : { value };
  } catch (error) {
    return {
      failure: error instanceof Error ? (error.message.split('\n')[0] ?? 'it cannot be loaded') : String(error),
    };
  }
}

interface ModuleExports {
  readonly default?: unknown;
  readonly pipeline?: unknown;
}

/**
 * The named export, or the default, the only export of a CommonJS file. A pipeline's own field `pipeline` is its name.
 */
function findExportedPipeline(exports: ModuleExports): unknown {
  const whole = exports.default as ModuleExports | undefined;
  const found = [exports, whole].find((each) => each?.pipeline !== undefined);
  if (found === undefined) return whole?.default ?? whole;
  return typeof found.pipeline === 'string' ? found : found.pipeline;
}

const FILE_START = { line: 1, column: 1, path: '' };

const notLoadable = (message: string): Problem => ({
  severity: 'error',
  code: 'not-loadable',
  ...FILE_START,
  message,
  hint: "export the pipeline: import { definePipeline } from '@conveyor/sdk'; export const pipeline = definePipeline({ … })",
});

const NOT_RUN: Problem = {
  severity: 'error',
  code: 'not-run',
  ...FILE_START,
  message: 'it is a program, which --no-exec does not run',
  hint: 'leave out --no-exec if you trust the author, or write the pipeline as YAML',
};
