import { z } from 'zod';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `500ms`, `30s`, `15m` or `2h` in the file of a push type, in ms. */
export const durationField = () =>
  z
    .string()
    .regex(/^\d{1,6}(ms|s|m|h)$/, 'expected a duration such as 500ms, 30s, 15m or 2h')
    .transform((written) => Number.parseInt(written, 10) * (UNIT_MS[written.replace(/^\d+/, '')] ?? 1));
