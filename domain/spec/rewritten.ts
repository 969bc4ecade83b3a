import { isMap, isPair, isScalar, isSeq, visit, type Document, type Node, type Pair } from 'yaml';
import { formatPath } from './problem';

/** A number that reaches its reader in another form than in the file: `1.10` becomes 1.1. */
export interface RewrittenNumber {
  readonly source: string;
  readonly value: number;
  readonly path: string;
  readonly offset: number;
}

/** Numbers with a meaning outside Conveyor: under the `with` of finders and services, under `config`, and in offers. Elsewhere `0.10` means the same as 0.1. */
export function rewrittenNumbers(document: Document): readonly RewrittenNumber[] {
  const found: RewrittenNumber[] = [];
  visit(document, {
    Scalar: (key, { value, source, range }, ancestors) => {
      if (key === 'key' || typeof value !== 'number' || source === undefined || String(value) === source) return;
      // Lint refuses it.
      if (!Number.isFinite(value) && isWithin(ancestors, 'offers')) return;
      if (isOthers(ancestors))
        found.push({ source, value, path: formatNodePath(ancestors, key), offset: range?.[0] ?? 0 });
    },
  });
  return found;
}

type Ancestors = readonly (Document | Node | Pair)[];

const isOthers = (ancestors: Ancestors): boolean =>
  ancestors.some((node, at) => {
    const name = isPair(node) ? getPairKey(node) : undefined;
    if (name !== 'with') return name === 'config' || name === 'offers';
    const around = ancestors[at - 1];
    if (!isMap(around)) return false;
    const type = around.get('type');
    return around.has('finder') || (typeof type === 'string' && !OWN_TYPES.has(type));
  });

/** For these types, Conveyor itself knows the meaning of each number under `with`. */
const OWN_TYPES: ReadonlySet<string> = new Set(['deploy', 'canary']);

const isWithin = (ancestors: Ancestors, key: string): boolean =>
  ancestors.some((node) => isPair(node) && getPairKey(node) === key);

const getPairKey = ({ key }: Pair): string => String(isScalar(key) ? key.value : key);

/** `actions.test.with.version`, `offers[0].value.rate` */
function formatNodePath(ancestors: Ancestors, last: unknown): string {
  const steps = ancestors.flatMap((node, at): (string | number)[] => {
    const around = ancestors[at - 1];
    if (isPair(node)) return [getPairKey(node)];
    return isSeq(around) ? [around.items.indexOf(node)] : [];
  });
  return formatPath(typeof last === 'number' ? [...steps, last] : steps);
}
