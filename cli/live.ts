import type { Screen } from './io';
import { truncate, safe } from './render/paint';

/**
 * A region at the end of the terminal that is drawn again in place. Nothing above it is touched, so what was printed
 * before stays, and the last picture stays when it ends.
 */
export interface LiveRegion {
  draw(text: string): void;
  /** Leaves the last picture where it is and gives the cursor back. */
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
    // A terminal of another width has wrapped the lines; where they begin now is not known.
    return columns === screen.columns ? `\u001b[${drawn}A\r` : CLEAR_SCREEN;
  };
  return {
    draw: (text) => {
      const lines = fitToScreen(text, screen);
      const picture = lines.map((line) => `${ERASE_LINE}${line}\n`).join('');
      if (picture === last && drawn > 0 && columns === screen.columns) return;
      draw(`${toTheTop()}${picture}${ERASE_BELOW}`);
      columns = screen.columns;
      drawn = lines.length;
      last = picture;
    },
    end: () => {
      if (drawn > 0) draw(SHOW_CURSOR);
      drawn = 0;
      last = '';
    },
  };
}

/** What fits the screen; the cursor's own line is kept free, else each drawing would scroll. */
function fitToScreen(text: string, screen: Screen): string[] {
  const lines = safe(text, true)
    .split('\n')
    .map((line) => truncate(line, screen.columns - 1));
  const room = Math.max(3, screen.rows - 1);
  return lines.length <= room
    ? lines
    : [...lines.slice(0, room - 1), truncate(`… ${lines.length - room + 1} lines more`, screen.columns - 1)];
}
