import { plural } from '../domain/text';
import { isPlaceAlone, safe, truncate, measureWidth } from '../render/paint';
import type { Screen } from './io';

/**
 * A region at the end of the terminal that is redrawn in place. Nothing above it is touched, so earlier output stays,
 * and the last picture stays when the region ends.
 */
export interface LiveRegion {
  draw(text: string): void;
  /** Leaves the last picture in place and shows the cursor again. */
  end(): void;
}

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const ERASE_LINE = '\u001b[2K';
const ERASE_BELOW = '\u001b[0J';
const CLEAR_SCREEN = '\u001b[2J\u001b[H';

export function liveRegion(screen: Screen): LiveRegion {
  const draw = (text: string): void => (screen.draw ?? screen.write)(text);
  let drawn = 0;
  let last = '';
  let columns = screen.columns;
  const toTheTop = (): string => {
    if (drawn === 0) return HIDE_CURSOR;
    // After a change of its width, the terminal has wrapped the lines differently, so their beginning is unknown.
    return columns === screen.columns ? `\u001b[${drawn}A\r` : CLEAR_SCREEN;
  };
  return {
    draw: (text) => {
      const lines = fitToScreen(text, screen);
      // Erasing a line erases one row, and a link may take several.
      const erase = (line: string): string => (countRows([line], screen) === 1 ? ERASE_LINE : ERASE_BELOW);
      const picture = lines.map((line) => `${erase(line)}${line}\n`).join('');
      if (picture === last && drawn > 0 && columns === screen.columns) return;
      draw(`${toTheTop()}${picture}${ERASE_BELOW}`);
      columns = screen.columns;
      drawn = countRows(lines, screen);
      last = picture;
    },
    end: () => {
      if (drawn > 0) draw(SHOW_CURSOR);
      drawn = 0;
      last = '';
    },
  };
}

/**
 * The part of a text that fits the screen. The cursor's own line stays free, or each drawing would scroll. Links stay whole and may take several
 * rows.
 */
function fitToScreen(text: string, screen: Screen): string[] {
  const lines = safe(text, true)
    .split('\n')
    .map((line) => (isPlaceAlone(line) ? line : truncate(line, screen.columns - 1)));
  const room = Math.max(3, screen.rows - 1);
  if (countRows(lines, screen) <= room) return lines;
  let shown = lines;
  while (countRows(shown, screen) > room - 1) shown = shown.slice(0, -1);
  return [...shown, truncate(`… ${plural(lines.length - shown.length, 'more line')}`, screen.columns - 1)];
}

const countRows = (lines: readonly string[], { columns }: Screen): number =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(measureWidth(line) / columns)), 0);
