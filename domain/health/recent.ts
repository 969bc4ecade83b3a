import type { HealthRow } from '../views';
import { SEVERITY } from './verdict';

/** The part of an earlier row that is needed: its recent values. */
export type PastRow = Pick<HealthRow, 'unit' | 'check' | 'recent'>;

/** The number of values in a row; at one per minute, about as much as a person remembers. */
export const MAX_RECENT = 12;
/** The number of rows with recent values: a deploy may have thousands of rows, and every heartbeat carries them. */
export const MAX_FOLLOWED = 24;

/**
 * The rows with their observed values of the last evaluations, oldest first. Only the worst rows have them; among equals, those
 * that had them before. A row that is new among them begins with its present value.
 */
export function withRecent(rows: readonly HealthRow[], before: readonly PastRow[]): HealthRow[] {
  const known = new Map(before.map((row) => [rowKey(row), row.recent]));
  const rank = (row: HealthRow): number => 2 * SEVERITY[row.verdict] + (known.get(rowKey(row)) === undefined ? 0 : 1);
  const followed = new Set([...rows].sort((a, b) => rank(b) - rank(a)).slice(0, MAX_FOLLOWED));
  return rows.map((row) => {
    if (!followed.has(row)) return row;
    const values = [...(known.get(rowKey(row)) ?? []), ...(row.observed === null ? [] : [roundForChart(row.observed)])];
    return values.length === 0 ? row : { ...row, recent: values.slice(-MAX_RECENT) };
  });
}

/** The state from which the next watch of the same deploy continues. */
export const pastRows = (rows: readonly HealthRow[]): PastRow[] =>
  rows.flatMap(({ unit, check, recent }) => (recent === undefined ? [] : [{ unit, check, recent }]));

const rowKey = ({ unit, check }: PastRow): string => `${unit}|${check}`;

/** Enough digits for a chart. */
const roundForChart = (value: number): number => Number(value.toPrecision(4));
