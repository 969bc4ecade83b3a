import { foldAll, paint, truncate, measureWidth, type View } from './paint';

type Cells = readonly (readonly string[])[];

const GAP = 2;
/** The width that a column keeps as long as the terminal has room for all columns. */
const LEAST_WIDTH = 10;
/** The width up to which a column is cut last: days with their times, most states. */
const SPARED_WIDTH = 20;

/** Rows in aligned columns; the last column that has text is not padded. Cells may be coloured, even empty ones. */
export function alignRows(rows: Cells): string[] {
  const widths = columnWidths(rows);
  return rows.map((row) =>
    row
      .slice(0, row.findLastIndex((cell) => measureWidth(cell) > 0) + 1)
      .map((cell, column) => pad(cell, widths[column] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

/** A table with a heading, whose lines are folded; prints `empty` if there are no rows. */
export function table(heading: readonly string[], rows: Cells, empty: string, view: View): string {
  if (rows.length === 0) return empty;
  return foldAll(boldHeading(alignRows([heading, ...rows]), view), view).join('\n');
}

/** As `table`, but columns for which the terminal has no room follow below in a second table, which repeats the first column. */
export function blockTable(heading: readonly string[], rows: Cells, empty: string, view: View): string {
  const [first = 0, ...widths] = columnWidths([heading, ...rows]);
  const blocks: number[][] = [[]];
  let used = first;
  for (const [at, width] of widths.entries()) {
    if (used + GAP + width > view.width && (blocks.at(-1)?.length ?? 0) > 0) {
      blocks.push([]);
      used = first;
    }
    blocks.at(-1)?.push(at + 1);
    used += GAP + width;
  }
  return blocks
    .map((columns) => {
      const pick = (cells: readonly string[]): string[] => [0, ...columns].map((column) => cells[column] ?? '');
      return table(pick(heading), rows.map(pick), empty, view);
    })
    .slice(0, rows.length === 0 ? 1 : undefined)
    .join('\n');
}

/** The texts of a list, for a terminal and for a page. */
export interface ListTexts {
  readonly heading: readonly string[];
  /** An id comes first. */
  readonly rows: Cells;
  readonly empty: string;
  /** Sentences about single rows, which are folded. */
  readonly below?: readonly string[];
  /** Show all columns, and every cell in full. */
  readonly wide?: boolean;
}

/** A list has one line per row: if the terminal is too narrow, cells are cut, the widest first, short ones late, and ids last and at their start. */
export function listTable({ heading, rows, empty, below = [], wide = false }: ListTexts, view: View): string {
  if (wide || rows.length === 0) return [table(heading, rows, empty, view), ...foldAll(below, view)].join('\n');
  const lines = alignRows(fitCells([heading, ...rows], view.width)).map((line) => truncate(line, view.width));
  return [...boldHeading(lines, view), ...foldAll(below, view)].join('\n');
}

const boldHeading = ([head = '', ...body]: readonly string[], view: View): string[] => [
  paint(view.color).bold(head),
  ...body,
];

function fitCells(rows: Cells, width: number): Cells {
  const [id = 0, ...others] = columnWidths(rows);
  const room = width - GAP * others.length;
  if (id + widthsUnder(others, Infinity, 0) <= room) return rows;
  const spared = id + widthsUnder(others, LEAST_WIDTH, SPARED_WIDTH) <= room ? SPARED_WIDTH : 0;
  const idRoom = Math.max(Math.min(id, LEAST_WIDTH), Math.min(id, room - widthsUnder(others, LEAST_WIDTH, spared)));
  let widest = Math.max(...others);
  while (widest > LEAST_WIDTH && idRoom + widthsUnder(others, widest, spared) > room) widest--;
  return rows.map(([first = '', ...rest]) => [
    truncate(first, idRoom, 'start'),
    ...rest.map((cell, column) => truncate(cell, cutWidth(others[column] ?? 0, widest, spared))),
  ]);
}

const cutWidth = (width: number, widest: number, spared: number): number =>
  width <= spared ? width : Math.min(width, widest);

const widthsUnder = (widths: readonly number[], widest: number, spared: number): number =>
  widths.reduce((sum, width) => sum + cutWidth(width, widest, spared), 0);

function columnWidths(rows: Cells): number[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, measureWidth(cell))));
  return widths;
}

/** Pads with spaces up to `width` columns, counting colours and wide characters correctly. */
const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - measureWidth(text)));
