import { availableParallelism } from 'node:os';
import { conveyorError, ConveyorError } from '../../domain/errors';
import { concurrencyGate } from '../../sdk/concurrency';
import { TextCache } from '../textCache';
import { NoResult, runJob, type ProcessLimits } from './process';
import type { SourceTree } from './tree';
import type { ProgramWalls } from './walls';
import { sha256 } from '../../sdk/digest';

/** The compiled code of TypeScript files by path, or why a file cannot be compiled. */
export type Code = ReadonlyMap<string, string | ConveyorError>;

interface ParsedSource {
  readonly path: string;
  readonly source: string;
  readonly key: string;
}

/** The number of files that share a process, because each process has to load the parser. */
const TOGETHER = 200;
/** A source of 1 MiB needs more memory than a program may use. */
const MEMORY_MB = 512;
/** Code by the digest of its source, because modules are shared and successive trees hardly differ. */
const CODE = new TextCache(32 * 1024 * 1024);

/**
 * All TypeScript of a tree as CommonJS, without types; its lines stay where they are. On some sources the parser
 * never ends, so it runs in a separate process; the only known result is then the file that exceeded its time or
 * memory.
 */
export async function parseTree(
  tree: SourceTree,
  limits: ProcessLimits,
  walls: ProgramWalls,
): Promise<Code | ConveyorError> {
  const found = new Map<string, string | ConveyorError>();
  const unknown: ParsedSource[] = [];
  for (const path of tree.paths.filter((file) => file.endsWith('.ts'))) {
    const source = tree.read(path);
    const key = sha256(`${path}\0${source}`);
    const code = CODE.get(key);
    if (code === undefined) unknown.push({ path, source, key });
    else found.set(path, code);
  }
  const groups = Array.from({ length: Math.ceil(unknown.length / TOGETHER) }, (_, index) =>
    unknown.slice(index * TOGETHER, (index + 1) * TOGETHER),
  );
  const turn = concurrencyGate(availableParallelism());
  const all = await Promise.all(groups.map((group) => turn(() => parseGroup(group, limits, walls))));
  for (const group of all) {
    if (group instanceof ConveyorError) return group;
    for (const [path, code] of group) found.set(path, code);
  }
  return found;
}

type GroupParseResult = readonly (readonly [path: string, code: string | ConveyorError])[];

async function parseGroup(
  sources: readonly ParsedSource[],
  limits: ProcessLimits,
  walls: ProgramWalls,
): Promise<GroupParseResult | ConveyorError> {
  const files = sources.map(({ path, source }) => ({ path, source }));
  const memoryMb = Math.max(limits.memoryMb, MEMORY_MB);
  try {
    const { outcome } = await runJob({ kind: 'parse', files }, { ...limits, memoryMb }, walls);
    return sources.map(({ path, key }, index) => {
      const one = outcome[index] ?? { why: 'it got no result' };
      if ('why' in one) return [path, createParseError(path, one.why)];
      CODE.set(key, one.code);
      return [path, one.code];
    });
  } catch (error) {
    if (!(error instanceof NoResult)) throw error;
    return createParseError(error.at?.path ?? sources[0]?.path ?? '', error.how);
  }
}

const createParseError = (file: string, why: string): ConveyorError =>
  conveyorError('config-program-failed', { file, how: `it cannot be parsed: ${why}` });
