import { writeFileSync } from 'node:fs';
import { conveyorError } from '../domain/errors';
import type { Io } from './io';
import { isFormat, jsonText, printNote } from './output';

/**
 * Prints an export, or writes it into the file of `-o`, with a note. It is always JSON, regardless of the requested format. @throws ConveyorError
 * `usage` if the file cannot be written
 */
export function printExport(io: Io, value: object, output: string, done: string): void {
  const text = `${jsonText(value, 2)}\n`;
  if (isFormat(output)) io.stdout.write(text);
  else {
    write(output, text);
    printNote(io, done);
  }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch (error) {
    throw conveyorError('usage', {
      text: `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      hint: 'name another file with -o',
    });
  }
}
