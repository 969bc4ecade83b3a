import { isAlias, isMap, isPair, isScalar, isSeq, type Document, type YAMLMap } from 'yaml';

export interface Alias {
  readonly name: string;
  readonly offset: number;
}

/** The size of a document after anchors and merge keys are expanded, computed without expanding it. */
export interface ExpansionSize {
  /** The number of keys and values, counted as often as an alias repeats them. */
  readonly values: number;
  /** Aliases without an anchor that ends above them: the only reason why a parsed document cannot be read. */
  readonly dangling: readonly Alias[];
  /** The places of duplicate keys in a mapping. */
  readonly repeated: readonly number[];
}

/**
 * Computes all of it in one walk. The parser would compare each key of a mapping with all others, and walk the document for each
 * alias.
 */
export function measureExpansion(document: Document): ExpansionSize {
  const anchors = new Map<string, number>();
  const dangling: Alias[] = [];
  const repeated: number[] = [];
  const count = (node: unknown): number => {
    if (isAlias(node)) {
      if (!anchors.has(node.source)) dangling.push({ name: node.source, offset: node.range?.[0] ?? 0 });
      return anchors.get(node.source) ?? 1;
    }
    const { anchor } = node as { readonly anchor?: string };
    // An alias inside its own anchor would repeat it for ever.
    if (anchor !== undefined) anchors.delete(anchor);
    const size = sizeOf(node);
    if (anchor !== undefined) anchors.set(anchor, size);
    return size;
  };
  const sizeOf = (node: unknown): number => {
    if (isSeq(node)) return node.items.reduce((total: number, item) => total + count(item), 1);
    if (isMap(node)) {
      repeated.push(...findRepeatedKeys(node));
      return node.items.reduce((total: number, pair) => total + count(pair), 1);
    }
    if (isPair(node)) return (node.key === null ? 0 : count(node.key)) + (node.value === null ? 0 : count(node.value));
    return 1;
  };
  const values = document.contents === null ? 0 : count(document.contents);
  return { values, dangling, repeated };
}

function findRepeatedKeys({ items }: YAMLMap): number[] {
  const seen = new Set<unknown>();
  return items.flatMap(({ key }) => {
    if (!isScalar(key) || !seen.has(key.value)) {
      if (isScalar(key)) seen.add(key.value);
      return [];
    }
    return [key.range?.[0] ?? 0];
  });
}
