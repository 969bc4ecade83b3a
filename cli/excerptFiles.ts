import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { conveyorError, type ConveyorError } from '../domain/errors';
import { excerptSchema, type Excerpt } from '../domain/spec/excerpts';
import { describeShapeProblem, readData } from './dataFile';

/**
 * The excerpts of a folder: its files `*.json`, each with one excerpt or a list of them.
 * @throws ConveyorError `file-unreadable`, `excerpt-invalid`, `usage` if there are none
 */
export function readExcerpts(folder: string): readonly Excerpt[] {
  const files = listJsonFiles(folder);
  if (files.length === 0)
    throw conveyorError('usage', {
      text: `${folder} has no excerpts (*.json)`,
      hint: `conveyor offers export PIPELINE -o ${join(folder, 'PIPELINE.json')} writes one`,
    });
  const found = new Map<string, { readonly file: string; readonly excerpt: Excerpt }>();
  for (const file of files)
    for (const excerpt of readExcerptFile(file)) {
      const other = found.get(excerpt.pipeline);
      if (other) throw invalid(file, `${excerpt.pipeline} is also in ${other.file}`);
      found.set(excerpt.pipeline, { file, excerpt });
    }
  return [...found.values()].map(({ excerpt }) => excerpt);
}

function listJsonFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => join(folder, name));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const detail = code === 'ENOENT' ? 'there is no such folder' : code === 'ENOTDIR' ? 'it is not a folder' : message;
    throw conveyorError('file-unreadable', { file: folder, detail });
  }
}

function readExcerptFile(file: string): readonly Excerpt[] {
  const value = readData(file, (detail) => invalid(file, detail));
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.map((item, at) => {
    const { data, error } = excerptSchema.safeParse(item);
    if (data) return data;
    throw invalid(file, `${list === value ? `${at}.` : ''}${describeShapeProblem(error)}`);
  });
}

const invalid = (file: string, detail: string): ConveyorError => conveyorError('excerpt-invalid', { file, detail });
