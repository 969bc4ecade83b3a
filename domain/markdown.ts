/**
 * Markdown for the User Metadata tab of the Temporal Web UI, which gives tables no space between their cells: rows of
 * short cells are aligned in a code block instead, and sentences go into lists.
 */

/** The server keeps at most 20,000 bytes of details; most of the text is ASCII. */
const MAX_DETAILS = 16_000;

/** The sections that hold something, with the blank lines that Markdown wants around lists. */
export const sections = (...parts: readonly string[]): string =>
  parts
    .filter((part) => part !== '')
    .join('\n\n')
    .slice(0, MAX_DETAILS);

/** Rows of cells below each other, two spaces apart; nothing when there are none. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return block(lines);
}

export const block = (lines: readonly string[]): string =>
  lines.length > 0 ? ['```', ...lines.map((line) => line.replace(/`/g, "'")), '```'].join('\n') : '';

/** A heading and a list; nothing when the list is empty. */
export const list = (heading: string, items: readonly string[]): string =>
  items.length > 0 ? `${heading}\n\n${items.map((item) => `- ${item}`).join('\n')}` : '';

/** `2026-11-20 21:13:09`, in UTC. */
export const moment = (at: string): string => at.slice(0, 19).replace('T', ' ');
