/** The places of the actions of a graph, from left to right: an action stands to the right of all that it needs. */

export interface GraphNode {
  readonly name: string;
  readonly needs: readonly string[];
}

interface PlacedNode {
  readonly name: string;
  readonly column: number;
  readonly row: number;
}

/** A line from one action to another; `via` are the rows in the columns between them. */
export interface PlacedEdge {
  readonly from: PlacedNode;
  readonly to: PlacedNode;
  readonly via: readonly number[];
}

export interface GraphLayout {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly columns: number;
  readonly rows: number;
}

/** An action, or the place where a long line passes a column. */
interface ColumnPlace {
  readonly key: string;
  /** The keys in the column before. */
  readonly before: string[];
}

/** Rounds of sorting; more make no difference for graphs of this size. */
const SORT_ROUNDS = 4;

/** Columns by the longest way, with a place in each column for lines that pass it; rows by the middle of the neighbours. */
export function layOutGraph(given: readonly GraphNode[]): GraphLayout {
  const known = new Set(given.map(({ name }) => name));
  const nodes = given.map(({ name, needs }) => ({ name, needs: [...new Set(needs)].filter((one) => known.has(one)) }));
  const columnOf = findColumns(nodes);
  const columns = fillColumns(nodes, columnOf);
  sortColumns(columns);
  const place = new Map<string, PlacedNode>();
  for (const [column, slots] of columns.entries())
    slots.forEach(({ key }, row) => place.set(key, { name: key, column, row }));
  const edges = nodes.flatMap(({ name, needs }) => needs.flatMap((need) => toEdge(need, name, place)));
  return {
    nodes: nodes.flatMap(({ name }) => place.get(name) ?? []),
    edges,
    columns: columns.length,
    rows: Math.max(0, ...columns.map(({ length }) => length)),
  };
}

/** The length of the longest way to each action. A circle, which lint rejects, ends where it closes. */
function findColumns(nodes: readonly GraphNode[]): ReadonlyMap<string, number> {
  const needs = new Map(nodes.map((node) => [node.name, node.needs]));
  const found = new Map<string, number>();
  const visit = (name: string, above: ReadonlySet<string>): number => {
    const known = found.get(name);
    if (known !== undefined) return known;
    const inside = new Set([...above, name]);
    const before = (needs.get(name) ?? []).filter((need) => !inside.has(need)).map((need) => visit(need, inside));
    const column = before.length === 0 ? 0 : Math.max(...before) + 1;
    found.set(name, column);
    return column;
  };
  for (const { name } of nodes) visit(name, new Set());
  return found;
}

const passKey = (from: string, to: string, column: number): string => `${from} ${to} ${column}`;

function fillColumns(nodes: readonly GraphNode[], columnOf: ReadonlyMap<string, number>): ColumnPlace[][] {
  const columns: ColumnPlace[][] = [];
  const add = (column: number, slot: ColumnPlace): void => void (columns[column] ??= []).push(slot);
  for (const { name } of nodes) add(columnOf.get(name) ?? 0, { key: name, before: [] });
  const slots = new Map(columns.flat().map((slot) => [slot.key, slot]));
  for (const { name, needs } of nodes)
    for (const need of needs) {
      const [from, to] = [columnOf.get(need) ?? 0, columnOf.get(name) ?? 0];
      if (from >= to) continue;
      let last = need;
      for (let column = from + 1; column < to; column += 1) {
        const key = passKey(need, name, column);
        add(column, { key, before: [last] });
        last = key;
      }
      slots.get(name)?.before.push(last);
    }
  return columns;
}

/** Sorts each column by the middle of the places before it, then of those after it, so that fewer lines cross. */
function sortColumns(columns: ColumnPlace[][]): void {
  const after = new Map<string, string[]>();
  for (const { key, before } of columns.flat())
    for (const one of before) after.set(one, [...(after.get(one) ?? []), key]);
  for (let sweep = 0; sweep < SORT_ROUNDS; sweep += 1) {
    const isForward = sweep % 2 === 0;
    const order = isForward ? columns.keys() : [...columns.keys()].reverse();
    for (const at of order) {
      const neighbours = new Map((columns[at + (isForward ? -1 : 1)] ?? []).map(({ key }, row) => [key, row]));
      const middle = (slot: ColumnPlace, row: number): number => {
        const rows = (isForward ? slot.before : (after.get(slot.key) ?? [])).flatMap(
          (key) => neighbours.get(key) ?? [],
        );
        return rows.length === 0 ? row : rows.reduce((sum, one) => sum + one, 0) / rows.length;
      };
      const ranked = (columns[at] ?? []).map((slot, row) => ({ slot, rank: middle(slot, row) }));
      columns[at] = ranked.sort((a, b) => a.rank - b.rank).map(({ slot }) => slot);
    }
  }
}

function toEdge(from: string, to: string, place: ReadonlyMap<string, PlacedNode>): PlacedEdge[] {
  const [start, end] = [place.get(from), place.get(to)];
  if (start === undefined || end === undefined || start.column >= end.column) return [];
  const via: number[] = [];
  for (let column = start.column + 1; column < end.column; column += 1)
    via.push(place.get(passKey(from, to, column))?.row ?? end.row);
  return [{ from: start, to: end, via }];
}
