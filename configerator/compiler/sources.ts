import type { ImportGraph } from './graph';
import { getFileKind, getStem } from './tree';

/** The files that contribute to a file's values: itself, its imports, and the validators of the schemas among them. */
export function listValueSources(graph: ImportGraph, file: string): readonly string[] {
  const own = graph.has(file) && file.endsWith('.ts') ? graph.closure(file) : [file, ...schemasBeside(graph, file)];
  const closed = own.flatMap((path) => (path.endsWith('.ts') ? graph.closure(path) : [path]));
  const validators = closed
    .filter((path) => getFileKind(path) === 'schema')
    .flatMap((path) => findValidators(graph, path));
  return [...new Set([...closed, ...validators.flatMap((path) => graph.closure(path))])];
}

/** The validators of a schema are in the same folder. */
function findValidators(graph: ImportGraph, schema: string): readonly string[] {
  const file = `${getStem(schema)}.validate.ts`;
  return graph.has(file) ? [file] : [];
}

/** The schemas of a raw file: a JSON Schema or a schema of programs, in the same folder. */
const schemasBeside = (graph: ImportGraph, file: string): readonly string[] =>
  ['.schema.json', '.schema.ts'].map((ending) => `${getStem(file)}${ending}`).filter((path) => graph.has(path));
