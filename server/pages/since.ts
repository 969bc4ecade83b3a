import { z } from 'zod';
import { conveyorError } from '../../domain/errors';
import { parseSince } from '../../domain/spec/moment';

/** A duration ago or a time, as `--since` of the command line takes it; empty for the default. */
export const sinceField = z.string().max(100).default('');

/** ms since the epoch; undefined for an empty text. @throws ConveyorError `invalid-request` */
export function toSinceMs(text: string, nowMs: number): number | undefined {
  const given = text.trim();
  if (given === '') return undefined;
  const sinceMs = parseSince(given, nowMs);
  if (sinceMs !== undefined) return sinceMs;
  throw conveyorError('invalid-request', {
    detail: `since: ${given} is no time; write it as 2h or 2026-12-27T06:00:00Z`,
  });
}
