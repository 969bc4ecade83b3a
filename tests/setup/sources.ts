import { existsSync, readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import * as ts from 'typescript';

interface Layers {
  /** The folders with walls. */
  readonly FOLDERS: readonly string[];
  /** The files that name features. */
  readonly REGISTRATIONS: readonly string[];
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- the table is plain JavaScript without types
export const { FOLDERS, REGISTRATIONS } = require('../../tools/eslint/layers') as Layers;

export const ROOT = path.resolve(__dirname, '../..');

/** The folders of code that runs; `scripts` and `tools` are JavaScript. */
const RUNNING = [...FOLDERS, 'scripts', 'tools', 'bin'];

/** A parsed file; `name` is relative to the checkout. */
export interface Source {
  readonly name: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

export const runningSources = (): Source[] => RUNNING.flatMap(sourcesIn);
export const testSources = (): Source[] => [...sourcesIn('tests'), ...sourcesIn('bench')];

function sourcesIn(folder: string): Source[] {
  const full = path.join(ROOT, folder);
  if (!existsSync(full)) return [];
  return readdirSync(full, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(tsx?|js)$/.test(name) && !name.includes('node_modules'))
    .map((name) => parse(path.join(folder, name), readFileSync(path.join(full, name), 'utf8')));
}

export const parse = (name: string, text: string): Source => ({
  name,
  text,
  tree: ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true),
});

export const nonBlankLines = (text: string): number => text.split('\n').filter((line) => line.trim() !== '').length;

/** Every function with a body; nested ones also count within the one around them. */
export function functionsOf({ name, tree }: Source): { where: string; lines: number; named: boolean }[] {
  const found: { where: string; lines: number; named: boolean }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const label = labelOf(node);
      const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      found.push({
        where: `${name}:${line} ${label ?? ''}`.trim(),
        lines: nonBlankLines(node.getText()),
        named: label !== undefined,
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** The name of a function, or of the variable to which an arrow function is assigned; undefined for an argument. */
function labelOf(node: ts.SignatureDeclaration): string | undefined {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const named =
    node.name ??
    (ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent) ? node.parent.name : undefined);
  return named?.getText();
}
