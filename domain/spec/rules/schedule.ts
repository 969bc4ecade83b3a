import type { Rule } from '../lint';
import type { PipelineSpec } from '../pipeline';
import { errorAt, warningAt, type Finding, type Path } from '../problem';

/** When deploys may start: zones that exist, cron lines that mean something, and people at their desks. */

const calendar: Rule = ({ schedule }) => {
  const isCalendar = schedule.mode === 'calendar';
  return [
    ...(isCalendar && schedule.calendar === undefined
      ? [errorAt(['schedule'], 'missing-calendar', 'mode calendar has no calendar', 'add calendar: "0 10 * * 1-4"')]
      : []),
    ...(schedule.calendar !== undefined && schedule.timezone === undefined
      ? [
          errorAt(
            ['schedule', 'calendar'],
            'missing-timezone',
            'a calendar without a timezone has no meaning',
            'add timezone: America/Los_Angeles',
          ),
        ]
      : []),
    ...(schedule.calendar === undefined ? [] : cron(['schedule', 'calendar'], schedule.calendar)),
  ];
};

const timezones: Rule = (spec) => {
  const zones: [Path, string | undefined][] = [
    [['schedule', 'timezone'], spec.schedule.timezone],
    ...windowsOf(spec).map(([path, window]): [Path, string] => [[...path, 'timezone'], window.timezone]),
  ];
  return zones
    .filter(([, zone]) => zone !== undefined && !isTimezone(zone))
    .map(([path, zone]) =>
      errorAt(
        path,
        'invalid-timezone',
        `${zone} is not a timezone`,
        'write an IANA name such as America/Los_Angeles or UTC',
      ),
    );
};

const windows: Rule = (spec) =>
  windowsOf(spec).flatMap(([path, window]): Finding[] => {
    const late = window.days.filter((day) => ['fri', 'sat', 'sun'].includes(day));
    return [
      ...(window.from === window.to
        ? [
            errorAt(
              [...path, 'to'],
              'empty-window',
              `the window closes at ${window.to}, when it opens`,
              'let it end later',
            ),
          ]
        : []),
      ...(late.length > 0 ? [lateInTheWeek([...path, 'days'], late.join(', '))] : []),
    ];
  });

export const scheduleRules: readonly Rule[] = [calendar, timezones, windows];

type Window = NonNullable<PipelineSpec['actions'][string]['window']>;

function windowsOf(spec: PipelineSpec): [Path, Window][] {
  return Object.entries(spec.actions).flatMap(([name, { window }]): [Path, Window][] =>
    window === undefined ? [] : [[['actions', name, 'window'], window]],
  );
}

const lateInTheWeek = (path: Path, days: string): Finding =>
  warningAt(
    path,
    'late-in-the-week',
    `deploys may start on ${days}, when nobody is there the day after`,
    'deploy in the mornings of Monday to Thursday',
  );

/** Names of the database, not offsets: an offset would be wrong for half the year. */
function isTimezone(zone: string): boolean {
  try {
    return (
      /^[A-Za-z]/.test(zone) && new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
    );
  } catch {
    return false;
  }
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface Field {
  readonly label: string;
  readonly low: number;
  readonly high: number;
  /** Names that may stand for numbers, the first for `low`. */
  readonly names: readonly string[];
}

const FIELDS: readonly Field[] = [
  { label: 'minute', low: 0, high: 59, names: [] },
  { label: 'hour', low: 0, high: 23, names: [] },
  { label: 'day of the month', low: 1, high: 31, names: [] },
  { label: 'month', low: 1, high: 12, names: MONTHS },
  { label: 'day of the week', low: 0, high: 7, names: DAYS },
];

function cron(path: Path, text: string): Finding[] {
  const parts = text.trim().split(/\s+/);
  const hint = 'write minute, hour, day of the month, month and day of the week: "0 10 * * 1-4"';
  if (parts.length !== FIELDS.length)
    return [errorAt(path, 'invalid-cron', `a calendar has five fields, not ${parts.length}`, hint)];
  const bad = FIELDS.filter((field, index) => numbersOf(parts[index] ?? '', field) === undefined);
  if (bad.length > 0)
    return bad.map((field) =>
      errorAt(path, 'invalid-cron', `${parts[FIELDS.indexOf(field)]} is not a valid ${field.label}`, hint),
    );
  const days = numbersOf(parts[4] ?? '*', FIELDS[4] as Field) ?? [];
  const late = [5, 6, 0].filter((day) => days.includes(day)).map((day) => DAYS[day]);
  return late.length > 0 ? [lateInTheWeek(path, late.join(', '))] : [];
}

/** The numbers that a cron field means; undefined when it means nothing. Sunday is 0. */
function numbersOf(text: string, field: Field): number[] | undefined {
  const ranges = text.split(',').map((part) => rangeOf(part, field));
  if (ranges.some((range) => range === undefined)) return undefined;
  const numbers = ranges.flatMap((range) => range ?? []);
  return field.names === DAYS ? numbers.map((day) => day % 7) : numbers;
}

function rangeOf(text: string, field: Field): number[] | undefined {
  const [, span = '', step = '1'] = /^([^/]+)(?:\/(\d+))?$/.exec(text) ?? [];
  const numberOf = (word: string): number => {
    const named = field.names.indexOf(word.toLowerCase());
    return named >= 0 ? named + field.low : /^\d+$/.test(word) ? Number(word) : NaN;
  };
  const [from = NaN, to] = span === '*' ? [field.low, field.high] : span.split('-').map(numberOf);
  const last = to ?? (text.includes('/') ? field.high : from);
  const isValid = from >= field.low && last <= field.high && from <= last && Number(step) > 0;
  if (!isValid) return undefined;
  return Array.from({ length: last - from + 1 }, (_, index) => from + index).filter(
    (_, index) => index % Number(step) === 0,
  );
}
