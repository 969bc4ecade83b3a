import { conveyorError, type ConveyorError } from '../../domain/errors';
import { blobId } from '../../sdk/blobId';
import { compile } from '../compiler/compile';
import type { RunMemory } from '../compiler/run';
import { getFileKind, rawPath, getStem, valueFile, VALUES, type SourceTree } from '../compiler/tree';
import { NO_PROGRAMS, type ProgramWalls } from '../compiler/walls';

/** The files of a commit, by path: sources and values. */
export type Files = ReadonlyMap<string, string>;

/** Changed sources by path; null deletes one. */
export type Edits = ReadonlyMap<string, string | null>;

export interface RevaluationResult {
  /** By path; null deletes the value. Unchanged ones are left out. */
  readonly values: ReadonlyMap<string, string | null>;
  readonly problems: readonly ConveyorError[];
}

/** How to run programs. */
interface ProgramRunOptions {
  readonly memory?: RunMemory | undefined;
  readonly programs?: ProgramWalls | undefined;
}

/**
 * The values after an edit: exactly those to which an edited file contributes are compiled again. @param before blobs
 * by path @param read the text of a source before the edit, by path
 */
export async function recompileValues(
  before: Files,
  edits: Edits,
  read: (path: string) => string,
  { memory, programs = NO_PROGRAMS }: ProgramRunOptions,
): Promise<RevaluationResult> {
  const tree = buildEditedTree(before, edits, read);
  const compiled = await compile(tree, {
    ...{ changed: new Set(edits.keys()), walls: programs },
    ...(memory === undefined ? {} : { memory }),
  });
  const values = new Map<string, string | null>();
  const problems = [...compiled.problems];
  for (const { path, text, file } of compiled.values) {
    const maker = findMaker(path, before);
    if (maker !== undefined && maker !== file && tree.has?.(maker) && !compiled.files.includes(maker))
      problems.push(conveyorError('config-path-taken', { path, files: [maker, file] }));
    if (before.get(`${VALUES}/${valueFile(path)}`) !== blobId(text)) values.set(path, text);
  }
  const made = new Set(compiled.values.map(({ path }) => path));
  for (const path of listFormerValues(before, new Set([...compiled.files, ...listDeletedFiles(edits)])))
    if (!made.has(path)) values.set(path, null);
  return { values, problems };
}

/** The file that made this value. */
export function findMaker(path: string, files: Files): string | undefined {
  const stems = path.split('.').map((_part, index, parts) => parts.slice(0, parts.length - index).join('.'));
  return [`${path}.json`, path, ...stems.map((stem) => `${stem}.config.ts`)].find((file) => files.has(file));
}

/** The former values of these files. */
function listFormerValues(before: Files, makers: ReadonlySet<string>): readonly string[] {
  const found: string[] = [];
  for (const maker of makers) {
    if (getFileKind(maker) === 'raw') found.push(rawPath(maker));
    else if (before.has(maker)) found.push(...valuesBeside(before, getStem(maker)));
  }
  return found.filter(
    (path) => before.has(`${VALUES}/${valueFile(path)}`) && makers.has(findMaker(path, before) ?? ''),
  );
}

function valuesBeside(before: Files, stem: string): readonly string[] {
  const start = `${VALUES}/${stem}.`;
  return [...before.keys()].filter((file) => file.startsWith(start)).map((file) => pathOfValue(file));
}

/** The path of a value, from its file. */
export const pathOfValue = (file: string): string => file.slice(VALUES.length + 1).replace(/\.json$/, '');

const listDeletedFiles = (edits: Edits): readonly string[] =>
  [...edits].flatMap(([path, text]) => (text === null ? [path] : []));

/** The relevant part of the edited tree: programs with their imports, and the affected raw files. */
function buildEditedTree(before: Files, edits: Edits, read: (path: string) => string): SourceTree {
  const has = (path: string): boolean =>
    edits.has(path) ? edits.get(path) !== null : before.has(path) && !path.startsWith(`${VALUES}/`);
  const code = [...before.keys()].filter((path) => path.endsWith('.ts'));
  const beside = [...edits.keys()].flatMap((path) =>
    /\.schema\.(json|ts)$/.test(path)
      ? ['.json', '.yaml', '.yml'].map((ending) => `${getStem(path)}${ending}`.replace('.schema.', '.'))
      : [path],
  );
  const typed = code.filter((path) => getFileKind(path) === 'schema').map((path) => `${getStem(path)}.json`);
  const paths = [...new Set([...code, ...edits.keys(), ...beside, ...typed])].filter(has).sort();
  return { paths, has, read: (path) => edits.get(path) ?? read(path) };
}
