import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isNode, isScalar, parseAllDocuments, type Document } from 'yaml';
import { print } from '../stack';
import { sum, type PrintRow } from './pipelines';

/** The size of the files of several teams (µs, Table 2): lines that are neither blank nor a comment, with `offers` and `wishes` and without. */
const KEYS: readonly unknown[] = ['offers', 'wishes'];

interface Counted {
  readonly pipeline: string;
  readonly all: number;
  readonly without: number;
}

export function printLines(folder: string): void {
  const counted = countFolder(folder);
  if (counted.length === 0) return void process.stderr.write(`${folder} has no pipeline files\n`);
  const total = {
    ...{ pipeline: 'all of them', all: sum(counted.map(({ all }) => all)) },
    without: sum(counted.map(({ without }) => without)),
  };
  print([...counted, total].map(formatRow));
}

const formatRow = ({ pipeline, all, without }: Counted): PrintRow => [
  `lines of ${pipeline}, with and without offers and wishes`,
  `${all}, ${without} (+${((100 * (all - without)) / without).toFixed(0)}%)`,
];

/** Each pipeline in the YAML files of a folder and below it. */
function countFolder(folder: string): Counted[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.ya?ml$/.test(file));
  return files.sort().flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    return parseAllDocuments(text).flatMap((document) => countPipeline(text, document));
  });
}

function countPipeline(text: string, { contents, range }: Document): Counted[] {
  if (!isMap(contents) || typeof contents.get('pipeline') !== 'string') return [];
  const parts = contents.items.flatMap(({ key, value }) =>
    isScalar(key) && KEYS.includes(key.value) ? [text.slice(key.range?.[0], findEnd(value) ?? key.range?.[2])] : [],
  );
  const all = countLines(text.slice(range?.[0], range?.[1]));
  return [{ pipeline: String(contents.get('pipeline')), all, without: all - sum(parts.map(countLines)) }];
}

const findEnd = (value: unknown): number | undefined => (isNode(value) ? value.range?.[1] : undefined);

const countLines = (text: string): number => text.split('\n').filter((line) => !/^\s*(#|---\s*$|$)/.test(line)).length;
