import { ConveyorError } from '../../domain/errors';
import { ImportGraph } from '../compiler/graph';
import { parseTree } from '../compiler/parse';
import { PROCESS_LIMITS } from '../compiler/process';
import { listValueSources } from '../compiler/sources';
import { getFileKind, VALUES } from '../compiler/tree';
import { NO_PROGRAMS } from '../compiler/walls';
import { listTreeEntries, gitTree } from './gitTree';
import type { ConfigRepository } from './repository';
import { findMaker, pathOfValue } from './revalue';

/** The files of a value, or the values to which a file contributes. */
export interface Dependencies {
  /** The file that makes the value comes first; empty if the path is not a value. */
  readonly files: readonly string[];
  readonly contributesTo: readonly string[];
}

/** The values that a question about a path covers. */
export const listValues = (path: string, { files, contributesTo }: Dependencies): readonly string[] =>
  files.length > 0 ? [path] : contributesTo;

/**
 * Computed for a commit from the imports, without running programs. @throws ConveyorError for a source that cannot be
 * read
 */
export async function dependenciesAt(
  repository: ConfigRepository,
  commit: string | null,
  path: string,
): Promise<Dependencies> {
  if (commit === null) return { files: [], contributesTo: [] };
  const entries = await listTreeEntries(repository.git, commit);
  const files = new Map(entries.map((entry) => [entry.path, entry.blob]));
  const values = entries.flatMap((entry) => (entry.path.startsWith(`${VALUES}/`) ? [pathOfValue(entry.path)] : []));
  const sources = await gitTree(repository.git, entries, new Map());
  const isSource = sources.paths.includes(path);
  const maker = values.includes(path) ? findMaker(path, files) : undefined;
  const code = await parseTree(sources, PROCESS_LIMITS, repository.ref.programs ?? NO_PROGRAMS);
  if (code instanceof ConveyorError) throw code;
  const graph = new ImportGraph(sources, code);
  if (!isSource) return { files: maker === undefined ? [] : listValueSources(graph, maker), contributesTo: [] };
  const makers = sources.paths.filter((file) => ['program', 'raw'].includes(getFileKind(file)));
  const concerned = new Set(makers.filter((file) => listValueSources(graph, file).includes(path)));
  return { files: [], contributesTo: values.filter((value) => concerned.has(findMaker(value, files) ?? '')).sort() };
}
