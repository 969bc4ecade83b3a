import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ts from 'typescript';
import { parse, REGISTRATIONS } from './sources';

/** Removes a feature from a copy of the checkout: its folder, and its part of each list that registers features. */
export function removeFeature(root: string, feature: string): void {
  rmSync(join(root, 'features', feature), { recursive: true });
  for (const file of REGISTRATIONS) {
    const path = join(root, file);
    writeFileSync(path, withoutFeature(file, readFileSync(path, 'utf8'), feature));
  }
}

function withoutFeature(file: string, text: string, feature: string): string {
  const { tree } = parse(file, text);
  const names = new Set<string>();
  const unwanted: ts.Node[] = [];
  const isOfFeature = (node: ts.Node | undefined): boolean =>
    node !== undefined && ts.isStringLiteral(node) && node.text.includes(`features/${feature}/`);
  for (const statement of tree.statements) {
    const isNamed = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
    if (!isNamed || !isOfFeature(statement.moduleSpecifier)) continue;
    unwanted.push(statement);
    const named = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined;
    if (named && ts.isNamedImports(named)) for (const { name } of named.elements) names.add(name.text);
  }
  const visit = (node: ts.Node): void => {
    if (unwanted.includes(node)) return;
    const isUse = ts.isIdentifier(node) && names.has(node.text);
    const isImport = ts.isCallExpression(node) && isOfFeature(node.arguments[0]);
    if (isUse || isImport) unwanted.push(elementAround(node));
    else ts.forEachChild(node, visit);
  };
  visit(tree);
  return [...new Set(unwanted)]
    .sort((one, other) => other.pos - one.pos)
    .reduce((rest, node) => rest.slice(0, startOf(rest, node)) + rest.slice(endOf(rest, node)), text);
}

/** The element of a list around a node: of an array, an object, an interface, its heritage or an intersection. */
function elementAround(node: ts.Node): ts.Node {
  for (let at = node; ; at = at.parent) {
    const { parent } = at;
    const isList =
      ts.isArrayLiteralExpression(parent) ||
      ts.isObjectLiteralExpression(parent) ||
      ts.isInterfaceDeclaration(parent) ||
      ts.isHeritageClause(parent) ||
      ts.isIntersectionTypeNode(parent);
    if (isList) return at;
    if (ts.isSourceFile(parent)) throw new Error(`${node.getText()} of ${parent.fileName} is no element of a list`);
  }
}

const SEPARATOR = /^\s*[,&]/;

/** The last element of an intersection is removed with the separator before it. */
function startOf(text: string, node: ts.Node): number {
  const isLast = ts.isIntersectionTypeNode(node.parent) && !SEPARATOR.test(text.slice(node.end));
  return isLast ? text.lastIndexOf('&', node.pos) : node.pos;
}

const endOf = (text: string, node: ts.Node): number =>
  node.end + (SEPARATOR.exec(text.slice(node.end))?.[0].length ?? 0);
