import { parse } from 'yaml';
import type { z } from 'zod';
import { conveyorError, type ConveyorError } from '../domain/errors';
import { readText } from './textFile';

/** Reads a file in JSON or YAML. @throws file-unreadable */
export function readData(file: string): unknown {
  const text = readText(file);
  try {
    return parse(text);
  } catch (error) {
    throw conveyorError('file-unreadable', {
      file,
      detail: describeDataProblem(error),
    });
  }
}

/** The parser recurses for each level. */
function describeDataProblem(error: unknown): string {
  const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return first.startsWith('Maximum call stack') ? 'it is nested too deep' : first;
}

/** The error for a file with wrong content: the place, and what was expected there. */
export function createShapeError(file: string, { issues: [issue] }: z.ZodError, what: string = ''): ConveyorError {
  const detail = `${what}${issue?.path.join('.') || '(top)'}: ${issue?.message ?? ''}`;
  return conveyorError('file-unreadable', { file, detail });
}
