import { onOneLine } from '../domain/plainText';
import { safe } from '../render/paint';
import type { Io, Screen } from './io';
import { foldFor } from './output';

/** The io of a command with filtered output: lines and our own colours pass, everything else is escaped. */
export const guardIo = (io: Io): Io => ({
  ...io,
  stdout: guardScreen(io.stdout),
  stderr: guardScreen(io.stderr),
  ask: (question) => io.ask(`${foldFor(io.stderr, onOneLine(question).trimEnd())} `),
});

const guardScreen = (screen: Screen): Screen => ({
  write: (text) => screen.write(safe(text, true)),
  draw: (picture) => screen.write(picture),
  isTTY: screen.isTTY,
  get columns() {
    return screen.columns;
  },
  get rows() {
    return screen.rows;
  },
});
