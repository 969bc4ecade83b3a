import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { functionsOf, nonBlankLines, ROOT, runningSources } from '../setup/sources';

const CONTRIBUTING = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');

test('the sizes that CONTRIBUTING names are those that the tree keeps', () => {
  const sentence =
    /(\d+) files in (\d+) have at most (\d+) lines that are not blank, (\d+) functions in (\d+) at most (\d+) lines, none more than (\d+)/;
  const [, files, ofFiles, fileLines, some, ofSome, lines, most] = (sentence.exec(CONTRIBUTING) ?? []).map(Number);
  const sources = runningSources();
  const functions = sources.flatMap(functionsOf);
  const named = functions.filter((it) => it.named);
  const share = (within: number, of: number): number => within / of;
  const short = sources.filter(({ text }) => nonBlankLines(text) <= fileLines!);
  const brief = named.filter((it) => it.lines <= lines!);
  expect(share(short.length, sources.length)).toBeGreaterThanOrEqual(files! / ofFiles!);
  expect(share(brief.length, named.length)).toBeGreaterThanOrEqual(some! / ofSome!);
  expect(functions.filter((it) => it.lines > most!)).toEqual([]);
  // The most is no boast either: a newcomer who reads it may write such a function.
  expect(functions.filter((it) => it.lines > most! * 0.75)).not.toEqual([]);
});

/** Files and folders in backticks: what has a slash or an ending, and nothing that stands for something. */
const named = [...CONTRIBUTING.matchAll(/`([\w./-]+)`/g)]
  .map(([, text = '']) => text)
  .filter((text) => /^(\.ci|[a-z]+\/|[A-Z]+\.md)/.test(text) || /^[\w.]+\.(yaml|json|md)$/.test(text));

test.each([...new Set(named)])('CONTRIBUTING names %s, which exists', (path) =>
  expect(existsSync(join(ROOT, path))).toBe(true),
);

/** The names in capitals or with parentheses that a step says to look for, with the file named last before them. */
test('a table that a step adds to stands in a file that it names', () => {
  const steps = CONTRIBUTING.slice(CONTRIBUTING.indexOf('## How to add')).split('\n\n');
  const lost = steps.flatMap((step) => {
    const files = [...step.matchAll(/`([\w/-]+\/[\w.-]+\.ts)`/g)].map(([, file = '']) => file);
    const text = files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
    return [...step.matchAll(/`([A-Z][A-Z_]{3,})`/g)].flatMap(([, name = '']) => (text.includes(name) ? [] : [name]));
  });
  expect(lost).toEqual([]);
});

test.each([
  ...['a verb', 'a kind of threshold', 'a format of notifications', 'an error code', 'a lint rule', 'a metric'],
  ...[
    'a push type, an action service, an artifact finder, a task controller, a data source, a dependency graph or a service of tickets',
  ],
  ...['an operation of the API', 'an operation of access', 'a command', 'a page of the documents'],
])('CONTRIBUTING says how to add %s', (variant) => expect(CONTRIBUTING).toContain(`\n**${variant}.** `));
