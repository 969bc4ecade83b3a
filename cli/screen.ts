import { onOneLine } from '../domain/plainText';
import type { Io, Screen } from './io';
import { foldFor } from './output';
import { safe } from './render/paint';

/** The world of a command, whose output passes one place: lines and our own colours come out, all else is written out. */
export const guardedIo = (io: Io): Io => ({
  ...io,
  stdout: guardedScreen(io.stdout),
  stderr: guardedScreen(io.stderr),
  ask: (question) => io.ask(`${foldFor(io.stderr, onOneLine(question).trimEnd())} `),
});

const guardedScreen = (screen: Screen): Screen => ({
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
