import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePipeline, type Problem } from '../../../domain/spec/parse';

/** Beside each broken file stand the messages for its author, a line for each problem. */
const FOLDER = join(__dirname, '../../fixtures/broken');
const files = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'));

const line = ({ severity, code, line: at, column, path, message, hint }: Problem): string =>
  `${at}:${column} ${severity} ${code} ${path === '' ? '(file)' : path}: ${message} → ${hint}`;

describe('a broken file is refused with everything that is wrong with it, where it is, and what would be right', () => {
  test.each(files)('%s', (file) => {
    const { spec, problems } = parsePipeline(readFileSync(join(FOLDER, file), 'utf8'));
    const beside = join(FOLDER, file.replace('.yaml', '.txt'));
    const words = `${problems.map(line).join('\n')}\n`;
    if (process.env['UPDATE_BROKEN'] === '1') writeFileSync(beside, words);
    expect(words).toBe(readFileSync(beside, 'utf8'));
    expect(problems.some(({ severity }) => severity === 'error')).toBe(true);
    expect(spec).toBeNull();
  });
});

test('there is a file for everything that lint can say', () => {
  const folders = ['rules', 'expand'].map((folder) => join(__dirname, '../../../domain/spec', folder));
  const rules = folders.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)));
  const said = rules.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\b(?:error|warning)At\(\s*(?:\[[^\]]*\]|[\w.]+)\s*,\s*'([a-z-]+)'/g)].map(
      ([, code = '']) => code,
    ),
  );
  expect(said.length).toBeGreaterThan(25);
  const told = files.map((file) => readFileSync(join(FOLDER, file.replace('.yaml', '.txt')), 'utf8')).join('\n');
  expect(said.filter((code) => !told.includes(` ${code} `))).toEqual([]);
});
