import { foldAll, paint, truncate, widthOf, type View } from './paint';

type Cells = readonly (readonly string[])[];

const GAP = 2;
/** The cells that a column keeps while a terminal has room for all of them. */
const LEAST_WIDTH = 10;
/** Columns that are not cut as long as others can be: days with their times, most states. */
const SPARED_WIDTH = 20;

/** Rows under aligned columns; the last column is not padded. Cells may be coloured. */
export function alignRows(rows: Cells): string[] {
  const widths = columnWidths(rows);
  return rows.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

/** A table with a heading, whose lines are folded; says `empty` when there is nothing. */
export function table(heading: readonly string[], rows: Cells, empty: string, view: View): string {
  if (rows.length === 0) return empty;
  return foldAll(headed(alignRows([heading, ...rows]), view), view).join('\n');
}

interface List {
  readonly heading: readonly string[];
  /** An id comes first. */
  readonly rows: Cells;
  readonly empty: string;
  /** Sentences about single rows, which are folded. */
  readonly below?: readonly string[];
  /** With all columns, and every cell whole. */
  readonly wide?: boolean;
}

/** A list has one line a row: if the terminal is too narrow, cells are cut, the widest first, short ones late, and ids last and at their start. */
export function listTable({ heading, rows, empty, below = [], wide = false }: List, view: View): string {
  if (wide || rows.length === 0) return [table(heading, rows, empty, view), ...foldAll(below, view)].join('\n');
  const lines = alignRows(fitCells([heading, ...rows], view.width)).map((line) => truncate(line, view.width));
  return [...headed(lines, view), ...foldAll(below, view)].join('\n');
}

const headed = ([head = '', ...body]: readonly string[], view: View): string[] => [
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
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, widthOf(cell))));
  return widths;
}

/** Fills with spaces up to `width` columns, whatever colours and wide characters are inside. */
const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));
