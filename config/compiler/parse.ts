import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { conveyorError, ConveyorError } from '../../domain/errors';
import { concurrencyGate } from '../../sdk/concurrency';
import { TextCache } from '../textCache';
import { NoResult, runJob, type ProcessLimits } from './process';
import type { SourceTree } from './tree';
import type { ProgramWalls } from './walls';

/** TypeScript as it is run, or why it cannot be, by the paths of its files. */
export type Code = ReadonlyMap<string, string | ConveyorError>;

interface ParsedSource {
  readonly path: string;
  readonly source: string;
  readonly key: string;
}

/** So many files share a process, which has to load the parser first. */
const TOGETHER = 200;
/** A source of 1 MiB takes more than a program may. */
const MEMORY_MB = 512;
/** Code by the digest of its source: shared modules, and trees that hardly differ, are many. */
const CODE = new TextCache(32 * 1024 * 1024);

/**
 * All TypeScript of a tree as CommonJS, without types; its lines stay where they are. A parser takes years for some sources, so it runs
 * apart; the file with which it takes too long or too much is all that is known of the tree then.
 */
export async function parsed(
  tree: SourceTree,
  limits: ProcessLimits,
  walls: ProgramWalls,
): Promise<Code | ConveyorError> {
  const found = new Map<string, string | ConveyorError>();
  const unknown: ParsedSource[] = [];
  for (const path of tree.paths.filter((file) => file.endsWith('.ts'))) {
    const source = tree.read(path);
    const key = createHash('sha256').update(`${path}\0${source}`).digest('hex');
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

type Parsed = readonly (readonly [path: string, code: string | ConveyorError])[];

async function parseGroup(
  sources: readonly ParsedSource[],
  limits: ProcessLimits,
  walls: ProgramWalls,
): Promise<Parsed | ConveyorError> {
  const files = sources.map(({ path, source }) => ({ path, source }));
  const memoryMb = Math.max(limits.memoryMb, MEMORY_MB);
  try {
    const { outcome } = await runJob({ kind: 'parse', files }, { ...limits, memoryMb }, walls);
    return sources.map(({ path, key }, index) => {
      const one = outcome[index] ?? { why: 'nothing was said of it' };
      if ('why' in one) return [path, unparsed(path, one.why)];
      CODE.set(key, one.code);
      return [path, one.code];
    });
  } catch (error) {
    if (!(error instanceof NoResult)) throw error;
    return unparsed(error.at?.path ?? sources[0]?.path ?? '', error.how);
  }
}

const unparsed = (file: string, why: string): ConveyorError =>
  conveyorError('config-program-failed', { file, how: `it cannot be parsed: ${why}` });
