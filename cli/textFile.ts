import { readFileSync } from 'node:fs';
import { conveyorError } from '../domain/errors';

/** @throws file-unreadable */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const detail = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a folder' : message;
    throw conveyorError('file-unreadable', { file, detail });
  }
}
