import * as ts from 'typescript';
import type { Source } from './sources';

/**
 * Places in code at which another user of the machine can be faster: a predictable name in a folder that all users share, where a link or a file may
 * be planted, and a file with a secret that others can read until its mode is changed.
 */
export interface Finding {
  readonly where: string;
  readonly code: string;
}

const SHARED_FOLDER = /^\/(tmp|var\/tmp|dev\/shm)\/?$/;
const SHARED_NAME = /(^|[\s"'=:>(])\/(tmp|var\/tmp|dev\/shm)\/[\w.$*{-]/;
/** A name that is free at one moment, and belongs to another user the next. */
const NAME_ALONE = /\bmktemp\s+(-\w+\s+)*(-\w*u|--dry-run)/;
const SECRET = /secret|token(?!Env)|passw|credential|private_?key|seal_?key|signing_?key|\.pem\b|\.key\b/i;
const CREATES = /^(writeFile|replaceFile|appendFile|open)(Sync)?$|^createWriteStream$/;
const MAKES_UNIQUE = /^mkdtemp(Disposable)?(Sync)?$/;

/** Names in shared folders of TypeScript and JavaScript that no `mkdtemp` completes. */
export function predictableNames(source: Source): Finding[] {
  const variables = new Set<string>();
  const isShared = (node: ts.Node): boolean => {
    if (ts.isStringLiteralLike(node)) return SHARED_FOLDER.test(node.text);
    if (ts.isIdentifier(node)) return variables.has(node.text);
    if (ts.isCallExpression(node)) {
      const name = calledName(node);
      return name === 'tmpdir' || (/^realpath(Sync)?$/.test(name) && node.arguments.some(isShared));
    }
    if (ts.isBinaryExpression(node) && node.operatorToken.kind !== ts.SyntaxKind.PlusToken)
      return isShared(node.left) || isShared(node.right);
    if (ts.isParenthesizedExpression(node) || ts.isAwaitExpression(node)) return isShared(node.expression);
    const isAccess = ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node);
    return isAccess && /^process\.env(\.|\[['"])TMPDIR\b/.test(node.getText());
  };
  const isName = (node: ts.Node): boolean => {
    if (ts.isCallExpression(node))
      return /^(join|resolve)$/.test(calledName(node)) && node.arguments.length > 1 && isShared(node.arguments[0]!);
    if (ts.isBinaryExpression(node)) return node.operatorToken.kind === ts.SyntaxKind.PlusToken && isShared(node.left);
    if (ts.isTemplateExpression(node) && node.head.text === '' && isShared(node.templateSpans[0]!.expression))
      return node.templateSpans[0]!.literal.text.startsWith('/');
    return isText(node) && (SHARED_NAME.test(node.text) || NAME_ALONE.test(node.text));
  };
  const found: Finding[] = [];
  walk(source.tree, (node) => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer && isShared(node.initializer))
      variables.add(node.name.text);
    if (isName(node) && !isCompleted(node)) found.push(findingAt(source, node));
  });
  return found;
}

type Text = ts.StringLiteralLike | ts.TemplateHead | ts.TemplateMiddle | ts.TemplateTail;

const isText = (node: ts.Node): node is Text =>
  ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);

function isCompleted(node: ts.Node): boolean {
  const call = ts.isTemplateHead(node) ? node.parent.parent : node.parent;
  return ts.isCallExpression(call) && MAKES_UNIQUE.test(calledName(call));
}

/** Calls that create a file in a function that handles a secret, without the mode that keeps others from reading it. */
export function openSecrets(source: Source): Finding[] {
  const found: Finding[] = [];
  walk(source.tree, (node) => {
    if (!ts.isCallExpression(node) || !CREATES.test(calledName(node)) || !isCreation(node)) return;
    if (SECRET.test(functionAround(node).getText()) && !/\b0o[46]00\b/.test(node.getText()))
      found.push(findingAt(source, node));
  });
  return found;
}

/** A method of an open file creates none, nor does an open without such a flag. */
function isCreation(call: ts.CallExpression): boolean {
  const [, second] = call.arguments;
  if (second === undefined) return calledName(call) === 'createWriteStream';
  if (!calledName(call).startsWith('open')) return true;
  return /^['"][wa]|O_CREAT/.test(second.getText());
}

function functionAround(node: ts.Node): ts.Node {
  let around = node;
  while (!ts.isSourceFile(around) && !ts.isFunctionLike(around)) around = around.parent;
  return ts.isSourceFile(around) ? node : around;
}

/** The same in a shell script, line by line. */
export function findInShell(name: string, text: string): Finding[] {
  const variables = ['TMPDIR'];
  let isPrivate = false;
  return text.split('\n').flatMap((line, index) => {
    const code = line.replace(/(^|\s)#.*/, '').trim();
    isPrivate ||= /^umask 0?77\b/.test(code);
    const [, variable, value] = /^(?:local |export |readonly )?(\w+)=(\S+)$/.exec(code) ?? [];
    if (variable !== undefined && isSharedInShell(value ?? '', variables)) variables.push(variable);
    const isBad = isNameInShell(code, variables) || (isSecretInShell(code) && !isPrivate);
    return isBad ? [{ where: `${name}:${index + 1}`, code }] : [];
  });
}

const variablesIn = (variables: readonly string[]): string =>
  `\\$(?:${variables.join('|')})\\b|\\$\\{(?:${variables.join('|')})(?::?-[^}]*)?\\}`;

const isSharedInShell = (value: string, variables: readonly string[]): boolean => {
  const plain = value.replace(/"/g, '');
  return SHARED_FOLDER.test(plain) || new RegExp(`^(?:${variablesIn(variables)})/?$`).test(plain);
};

function isNameInShell(code: string, variables: readonly string[]): boolean {
  if (NAME_ALONE.test(code)) return true;
  const rest = code.replace(/\bmktemp\b[^)`;|&]*X{6}/g, '');
  return SHARED_NAME.test(rest) || new RegExp(`(?:${variablesIn(variables)})"?/"?[\\w.$*{-]`).test(rest);
}

const isSecretInShell = (code: string): boolean =>
  SECRET.test(code) && /(?<![<\d&])>{1,2}\s*(?!&|\/dev\/|\s)\S|\btee\b/.test(code) && !/\bumask 0?77\b/.test(code);

const calledName = ({ expression }: ts.CallExpression): string =>
  ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();

function findingAt({ name, tree }: Source, node: ts.Node): Finding {
  const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  return { where: `${name}:${line}`, code: node.getText().replace(/\s+/g, ' ') };
}

function walk(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, (child) => walk(child, look));
}
