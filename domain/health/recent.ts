import type { HealthRow } from '../views';
import { SEVERITY } from './verdict';

/** What a row had observed before: all that is needed of it. */
export type PastRow = Pick<HealthRow, 'unit' | 'check' | 'recent'>;

/** Values of a row; at one a minute, what a person remembers. */
export const MAX_RECENT = 12;
/** Rows that have any: a deploy may have thousands, and every heartbeat carries them. */
export const MAX_FOLLOWED = 24;

/**
 * The rows with what they observed in the last evaluations, oldest first. Only the worst rows have that, and among equals
 * those that had it before; a row that is among them for the first time begins with its value of now.
 */
export function withRecent(rows: readonly HealthRow[], before: readonly PastRow[]): HealthRow[] {
  const known = new Map(before.map((row) => [rowKey(row), row.recent]));
  const rank = (row: HealthRow): number => 2 * SEVERITY[row.verdict] + (known.get(rowKey(row)) === undefined ? 0 : 1);
  const followed = new Set([...rows].sort((a, b) => rank(b) - rank(a)).slice(0, MAX_FOLLOWED));
  return rows.map((row) => {
    if (!followed.has(row)) return row;
    const values = [...(known.get(rowKey(row)) ?? []), ...(row.observed === null ? [] : [rounded(row.observed)])];
    return values.length === 0 ? row : { ...row, recent: values.slice(-MAX_RECENT) };
  });
}

/** What the next watch of the same deploy continues from. */
export const pastRows = (rows: readonly HealthRow[]): PastRow[] =>
  rows.flatMap(({ unit, check, recent }) => (recent === undefined ? [] : [{ unit, check, recent }]));

const rowKey = ({ unit, check }: PastRow): string => `${unit}|${check}`;

/** Enough digits to draw it. */
const rounded = (value: number): number => Number(value.toPrecision(4));
