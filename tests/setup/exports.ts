import * as path from 'node:path';
import * as ts from 'typescript';
import type { Source } from './sources';

/** Exports that no other file imports, as `file: name`. A type counts as used if its own file mentions it again. */
export function deadExports(
  candidates: readonly Source[],
  readers: readonly Source[],
  isPublic: (file: string) => boolean,
): string[] {
  const files = new Set(readers.map((source) => source.name));
  const used = new Set(readers.flatMap((source) => usesIn(source, files)));
  return candidates
    .filter((source) => /\.tsx?$/.test(source.name) && !isPublic(source.name))
    .flatMap((source) =>
      exportsOf(source)
        .filter(({ name, isType }) => !(isType && mentions(source.text, name) > 1))
        .filter(({ name }) => !used.has(`${source.name}: ${name}`) && !used.has(`${source.name}: *`))
        .map(({ name }) => `${source.name}: ${name}`),
    );
}

/** The files that a file imports, types included, some of them twice. */
export const importsOf = (source: Source, files: ReadonlySet<string>): string[] =>
  takenBy(source, files).map(({ file }) => file);

/** The imports of a file, as `file: name`; `*` if it imports the whole module. */
const usesIn = (source: Source, files: ReadonlySet<string>): string[] =>
  takenBy(source, files).flatMap(({ file, node }) => namesTaken(node).map((name) => `${file}: ${name}`));

function takenBy(source: Source, files: ReadonlySet<string>): { file: string; node: ts.Node }[] {
  const taken: { file: string; node: ts.Node }[] = [];
  const visit = (node: ts.Node): void => {
    const target = targetOf(node);
    const file = target === undefined ? undefined : resolve(source.name, target, files);
    if (file !== undefined) taken.push({ file, node });
    ts.forEachChild(node, visit);
  };
  visit(source.tree);
  return taken;
}

/** The module that an import, re-export, `import()`, `require()` or `typeof import()` names. */
function targetOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return literal(node.moduleSpecifier);
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) ? literal(node.argument.literal) : undefined;
  if (!ts.isCallExpression(node)) return undefined;
  const loads = node.expression.kind === ts.SyntaxKind.ImportKeyword || node.expression.getText() === 'require';
  return loads ? literal(node.arguments[0]) : undefined;
}

const literal = (node: ts.Node | undefined): string | undefined =>
  node !== undefined && ts.isStringLiteral(node) ? node.text : undefined;

function namesTaken(node: ts.Node): string[] {
  const named = ts.isImportDeclaration(node)
    ? node.importClause?.namedBindings
    : ts.isExportDeclaration(node)
      ? node.exportClause
      : undefined;
  if (named === undefined || !(ts.isNamedImports(named) || ts.isNamedExports(named))) return ['*'];
  return named.elements.map((element) => (element.propertyName ?? element.name).text);
}

function resolve(from: string, target: string, files: ReadonlySet<string>): string | undefined {
  if (!target.startsWith('.')) return undefined;
  const base = path.join(path.dirname(from), target);
  return [base, `${base}.ts`, `${base}.tsx`, `${base}.js`, path.join(base, 'index.ts')].find((name) => files.has(name));
}

function exportsOf({ tree }: Source): { name: string; isType: boolean }[] {
  return tree.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return []; // a re-export: the declaring file is checked
    const exported =
      ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword);
    if (!exported) return [];
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.map((it) => ({ name: it.name.getText(), isType: false }));
    }
    const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
    const { name } = statement as ts.DeclarationStatement;
    return name === undefined ? [] : [{ name: name.getText(), isType }];
  });
}

const mentions = (text: string, name: string): number => text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0;
