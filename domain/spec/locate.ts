import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Document,
  type LineCounter,
  type Node,
  type Pair,
} from 'yaml';
import type { Finding, Path } from './problem';

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The place of a finding in the text: its key or its value, or the nearest enclosing part that is written. */
export function locate(document: Document, lines: LineCounter, finding: Pick<Finding, 'path' | 'at'>): Position {
  let node: unknown = document.contents;
  let offset = getNodeOffset(node) ?? 0;
  for (const [depth, key] of finding.path.entries()) {
    const isLast = depth === finding.path.length - 1;
    const step = stepInto(resolveAlias(document, node), key);
    if (step === undefined) {
      // A missing key is located at the key that lacks it.
      return toPosition(lines, depth === 0 ? offset : (keyOffset(document, finding.path.slice(0, depth)) ?? offset));
    }
    offset =
      (isLast && finding.at === 'key' ? step.keyOffset : undefined) ??
      getNodeOffset(step.value) ??
      step.keyOffset ??
      offset;
    node = step.value;
  }
  return toPosition(lines, offset);
}

export function toPosition(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

interface PathStep {
  readonly value: unknown;
  readonly keyOffset: number | undefined;
}

function stepInto(node: unknown, key: string | number): PathStep | undefined {
  if (isSeq(node))
    return node.items.length > Number(key) ? { value: node.items[Number(key)], keyOffset: undefined } : undefined;
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item: Pair) => String(isScalar(item.key) ? item.key.value : item.key) === String(key));
  return pair && { value: pair.value, keyOffset: getNodeOffset(pair.key) };
}

function keyOffset(document: Document, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const key of path) {
    const step = stepInto(resolveAlias(document, node), key);
    if (step === undefined) return offset;
    offset = step.keyOffset ?? getNodeOffset(step.value) ?? offset;
    node = step.value;
  }
  return offset;
}

const resolveAlias = (document: Document, node: unknown): unknown =>
  isAlias(node) ? (node.resolve(document) as Node | undefined) : node;

const getNodeOffset = (node: unknown): number | undefined =>
  isNode(node) && (isScalar(node) || isCollection(node) || isAlias(node)) ? node.range?.[0] : undefined;
