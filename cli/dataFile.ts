import { parse } from 'yaml';
import type { z } from 'zod';
import { conveyorError, type ConveyorError } from '../domain/errors';
import { readText } from './textFile';

/** Reads a file in JSON or YAML. @param refuse makes the error for a file that is neither. @throws file-unreadable */
export function readData(
  file: string,
  refuse = (detail: string): ConveyorError => conveyorError('file-unreadable', { file, detail }),
): unknown {
  const text = readText(file);
  try {
    return parse(text);
  } catch (error) {
    throw refuse(describeDataProblem(error));
  }
}

/** The parser recurses for each level. */
function describeDataProblem(error: unknown): string {
  const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return first.startsWith('Maximum call stack') ? 'it is nested too deep' : first;
}

/** The error for a file with wrong content: the place, and what was expected there. */
export const createShapeError = (file: string, error: z.ZodError, what: string = ''): ConveyorError =>
  conveyorError('file-unreadable', { file, detail: `${what}${describeShapeProblem(error)}` });

/** The first wrong place of a value, and what was expected there. */
export const describeShapeProblem = ({ issues: [issue] }: z.ZodError): string =>
  `${issue?.path.join('.') || '(top)'}: ${issue?.message ?? ''}`;
