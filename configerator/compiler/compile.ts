import { availableParallelism } from 'node:os';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { CONFIG_LIMITS } from '../../domain/limits';
import { sizeAndLimit } from '../../domain/size';
import { whyNotConfigPath } from '../domain/path';
import { checkAll } from './checks';
import type { CompiledValue, UncheckedValue, ValueSource } from './context';
import { ImportGraph } from './graph';
import { parseTree } from './parse';
import { PROCESS_LIMITS, type ProcessLimits } from './process';
import { runPrograms } from './programs';
import { readRaw } from './raws';
import { createCachedRun, type RunMemory, type Run } from './run';
import { listValueSources } from './sources';
import { getFileKind, getStem, type SourceTree } from './tree';
import { OWN_PROGRAMS, type ProgramWalls } from './walls';

export interface CompileResult {
  /** The compiled programs and raw files. */
  readonly files: readonly string[];
  /** In the order of their paths. */
  readonly values: readonly CompiledValue[];
  /** The reasons against committing the tree; empty if it is sound. */
  readonly problems: readonly ConveyorError[];
}

export interface CompileOptions {
  readonly limits?: Partial<ProcessLimits>;
  /** The isolation of its programs; by default they run like any program of this process's user. */
  readonly walls?: ProgramWalls;
  /** Results of earlier runs, which are the same for the same code. */
  readonly memory?: RunMemory;
  /** Compiles only values to which one of these files contributes. */
  readonly changed?: ReadonlySet<string>;
}

/** Runs the programs of a tree and checks all values. `problems` has one problem for each faulty file. */
export async function compile(tree: SourceTree, options: CompileOptions = {}): Promise<CompileResult> {
  const limits = { ...PROCESS_LIMITS, ...options.limits };
  const walls = options.walls ?? OWN_PROGRAMS;
  const run = createCachedRun(limits, walls, options.memory, availableParallelism());
  const code = await parseTree(tree, limits, walls);
  if (code instanceof ConveyorError) return { files: [], values: [], problems: [code] };
  return new Compiler(tree, new ImportGraph(tree, code), run, options.changed).compile();
}

class Compiler {
  private readonly problems: ConveyorError[] = [];

  constructor(
    private readonly tree: SourceTree,
    private readonly graph: ImportGraph,
    private readonly run: Run,
    private readonly changed: ReadonlySet<string> | undefined,
  ) {}

  async compile(): Promise<CompileResult> {
    const say = (problem: ConveyorError): void => void this.problems.push(problem);
    const context = { graph: this.graph, tree: this.tree, run: this.run, say };
    this.orphans();
    const [programs, raws] = [this.files('program'), this.files('raw')];
    const made = [...(await runPrograms(context, programs)), ...(await readRaw(context, raws))];
    const fit = made.filter((one) => this.isFit(one));
    this.collisions(fit);
    const values = await checkAll(context, fit);
    values.sort((a, b) => (a.path < b.path ? -1 : 1));
    return { files: [...programs, ...raws].map(({ file }) => file), values, problems: this.problems };
  }

  private files(kind: 'program' | 'raw'): readonly ValueSource[] {
    return this.tree.paths
      .filter((path) => getFileKind(path) === kind)
      .flatMap((file) => {
        const sources = this.attempt(() => listValueSources(this.graph, file));
        const isMeant = this.changed === undefined || sources?.some((path) => this.changed?.has(path));
        return sources !== undefined && isMeant ? [{ file, sources }] : [];
      });
  }

  private attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConveyorError)) throw error;
      // A module that several programs import is one problem.
      if (!this.problems.includes(error)) this.problems.push(error);
      return undefined;
    }
  }

  /** A validator that checks nothing would give false confidence. */
  private orphans(): void {
    for (const file of this.tree.paths.filter((path) => getFileKind(path) === 'validator')) {
      const schema = `${getStem(file)}.schema.ts`;
      if (this.graph.has(schema)) continue;
      this.problems.push(
        conveyorError('config-file-unusable', { file, why: `it validates ${schema}, which does not exist` }),
      );
    }
  }

  private isFit({ path, text, file }: UncheckedValue): boolean {
    const size = Buffer.byteLength(text);
    const { max } = CONFIG_LIMITS.value;
    const said = sizeAndLimit(size, max);
    const why =
      whyNotConfigPath(path) ?? (size > max ? `its value has ${said.size}, and may have ${said.limit}` : undefined);
    if (why !== undefined)
      this.problems.push(conveyorError('config-value-refused', { path, file, by: 'the limits', why, chain: [] }));
    return why === undefined;
  }

  private collisions(made: readonly UncheckedValue[]): void {
    const byPath = new Map<string, string>();
    for (const { path, file } of made) {
      const other = byPath.get(path);
      if (other === undefined) byPath.set(path, file);
      else this.problems.push(conveyorError('config-path-taken', { path, files: [other, file] }));
    }
  }
}
