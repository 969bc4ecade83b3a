import { z } from 'zod';
import { BLACKOUT } from './expressible';
import { SPEC_LIMITS } from '../limits';
import { listOf, text, zone } from './scalars';

/**
 * The times at which an action may begin and a deploy may update. Zones are names in the database; docs/adr/0011 defines wall times.
 */

const days = listOf(z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']), SPEC_LIMITS.days).min(1);

export const window = z.strictObject({
  days,
  from: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'expected a time such as 09:00' }),
  to: z.string().regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, { error: 'expected a time such as 18:00' }),
  timezone: zone(),
  /** The number of deploys that may begin each time that it opens. */
  maxDeploys: z.number().int().min(1).max(SPEC_LIMITS.maxDeploys.max).optional(),
  onClose: z.enum(['pause', 'finish-phase', 'finish']).default('pause'),
});

const TIME = '([01]\\d|2[0-3]):[0-5]\\d';
const DAY = '(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])';
const BLACKOUT_END = new RegExp(`^(${TIME}|24:00|${DAY}|[12]\\d{3}-${DAY}(T${TIME}(:[0-5]\\d)?(Z|[+-]${TIME})?)?)$`);

const blackoutEnd = text().regex(BLACKOUT_END, {
  error:
    'expected a date such as 2026-12-24 or 2026-12-24T18:00, 12-24 for each year, or with days a time such as 18:00',
});

/** Days of each week, days of each year (`12-24`), or dates. All are texts, so `lint` distinguishes them. */
const blackout = z
  .strictObject({
    days: days.optional(),
    from: blackoutEnd,
    to: blackoutEnd,
    timezone: zone().optional(),
    reason: text().min(1),
  })
  .meta(BLACKOUT);

/**
 * A file in iCalendar, relative to the pipeline file. The reader of the file replaces it by the dated blackouts in it (domain/spec/calendars.ts), so
 * no later step meets one.
 */
const NOT_READ =
  'calendars are read where the pipeline file lies, by conveyor lint, plan and apply; here name the dates';
const calendarFile = z.strictObject({
  ics: text().refine(() => false, { error: NOT_READ }),
  timezone: zone().optional(),
}) as unknown as z.ZodType<never, { ics: string; timezone?: string | undefined }>;

export const blackouts = listOf(
  z.union([blackout, calendarFile], { error: 'expected { from, to, reason }, or { ics }' }),
  SPEC_LIMITS.blackouts,
);

export type WindowSpec = z.output<typeof window>;
export type BlackoutSpec = z.output<typeof blackout>;
