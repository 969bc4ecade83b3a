import { existsSync } from 'node:fs';
import * as path from 'node:path';
import * as ts from 'typescript';
import { ALL_VERBS } from '../../domain/verbs';
import { ROOT, runningSources } from '../setup/sources';

const sources = new Map(runningSources().map((source) => [source.name, source.tree]));

/** The packages that a file takes along when it is loaded, through all that it imports; `import()` waits until it is reached. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  const tree = sources.get(file);
  if (tree === undefined || seen.has(file)) return new Set();
  seen.add(file);
  const targets = tree.statements.flatMap((statement) => loadedBy(statement));
  return new Set(
    targets.flatMap((target) =>
      target.startsWith('.') ? [...packagesOf(fileOf(path.join(path.dirname(file), target)), seen)] : [target],
    ),
  );
}

function loadedBy(statement: ts.Statement): string[] {
  if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
  const { moduleSpecifier } = statement;
  const isOfTypes = ts.isImportDeclaration(statement)
    ? statement.importClause !== undefined && isOfTypesOnly(statement.importClause)
    : statement.isTypeOnly;
  return moduleSpecifier === undefined || isOfTypes ? [] : [(moduleSpecifier as ts.StringLiteral).text];
}

function isOfTypesOnly({ isTypeOnly, name, namedBindings }: ts.ImportClause): boolean {
  if (isTypeOnly) return true;
  if (name !== undefined || namedBindings === undefined || ts.isNamespaceImport(namedBindings)) return false;
  return namedBindings.elements.every((element) => element.isTypeOnly);
}

const fileOf = (name: string): string =>
  existsSync(path.join(ROOT, `${name}.ts`)) ? `${name}.ts` : path.join(name, 'index.ts');

const HEAVY = /^(zod|yaml|luxon|croner|ical\.js|hono|openid-client|@temporalio\/.*)$/;
const heavyOf = (file: string): string[] => [...packagesOf(file)].filter((name) => HEAVY.test(name));

test('the command line starts without schemas, YAML, calendars and Temporal', () => {
  expect(heavyOf('cli/main.ts')).toEqual([]);
});

/** Those that people type all day, and at night. */
const LIGHT = 'whoami login logout list history status watch logs release rerun push artifact'.split(' ');

test.each([...LIGHT, ...ALL_VERBS])('so does conveyor %s, for which nothing else is loaded', (command) => {
  const file = `cli/commands/${ALL_VERBS.some((verb) => verb === command) ? 'verbs' : command}.ts`;
  expect(sources.has(file)).toBe(true);
  expect(heavyOf(file)).toEqual([]);
});

test('so does completion, which reads all commands from what the build wrote', () => {
  expect(heavyOf('cli/commands/completion.ts')).toEqual([]);
});

test('a command that brought them along would be seen', () => {
  expect(heavyOf('cli/commands/lint.ts')).toContain('zod');
});
