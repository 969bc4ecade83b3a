import { calendarFaults, neverFires, listWeekdays } from '../../calendar/ticks';
import { isTimezone } from '../../calendar/zone';
import { timezoneFor } from '../../calendar/zoneName';
import type { Rule } from '../rule';
import { listActionWindows } from '../../release/openTimes';
import type { PipelineSpec } from '../pipeline';
import { errorAt, warningAt, type Finding, type Path } from '../problem';
import { listBlackouts } from './blackouts';
import type { WindowSpec } from '../times';

/** The times at which deploys may start: zones that exist, valid cron lines, and times at which people are at work. */
const calendarMode: Rule = ({ schedule }) => {
  const isCalendar = schedule.mode === 'calendar';
  return [
    ...(isCalendar && schedule.calendar === undefined
      ? [errorAt(['schedule'], 'missing-calendar', 'mode calendar has no calendar', 'add calendar: "0 10 * * 1-4"')]
      : []),
    ...(schedule.calendar !== undefined && !isCalendar ? [reportUnusedCalendar(schedule.mode)] : []),
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

/** The default is continuous, so a calendar without a mode would let deploys start at any time. */
const reportUnusedCalendar = (mode: string): Finding =>
  errorAt(
    ['schedule', 'calendar'],
    'no-effect',
    `calendar has no effect with mode ${mode}`,
    'add mode: calendar, or remove the calendar',
  );

const timezones: Rule = (spec) => {
  const zoned: [Path, { readonly timezone?: string | undefined }][] = [
    [['schedule'], spec.schedule],
    ...listPlacedWindows(spec),
    ...listBlackouts(spec),
  ];
  return zoned.flatMap(([path, { timezone }]) => {
    if (timezone === undefined || isTimezone(timezone)) return [];
    const message = `${timezone} is not a timezone that means one place`;
    const hint = `write an IANA name such as ${timezoneFor(timezone)}`;
    return [errorAt([...path, 'timezone'], 'invalid-timezone', message, hint)];
  });
};

const windows: Rule = (spec) =>
  listPlacedWindows(spec).flatMap(([path, window]): Finding[] => {
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
      ...(neverCloses(window)
        ? [warningAt(path, 'always-open', 'the window never closes', 'leave it out, or let it close at night')]
        : []),
      ...(late.length > 0 ? [lateInTheWeek([...path, 'days'], late.join(', '))] : []),
    ];
  });

/** An action that one closing pauses and the other lets continue would do neither. */
const closings: Rule = (spec) =>
  Object.entries(spec.actions).flatMap(([name, action]): Finding[] => {
    const all = listActionWindows(action);
    const odd = all.findIndex(({ onClose }) => onClose !== all[0]?.onClose);
    if (odd < 0) return [];
    const message = `the windows of ${name} close in two ways`;
    const hint = `write onClose: ${all[0]?.onClose ?? 'pause'} for each of them, or the other for all`;
    return [errorAt(['actions', name, 'window', odd], 'mixed-closing', message, hint)];
  });

/** Only deploys are counted, and the count needs openings at which it starts again. */
const counts: Rule = (spec) =>
  listPlacedWindows(spec).flatMap(([path, window]): Finding[] => {
    const [, name = ''] = path;
    if (window.maxDeploys === undefined) return [];
    const at = [...path, 'maxDeploys'];
    if (spec.actions[name]?.type !== 'deploy')
      return [errorAt(at, 'no-effect', `${name} is not a deploy: nothing is counted`, 'remove maxDeploys')];
    if (!neverCloses(window)) return [];
    return [errorAt(at, 'counts-for-ever', 'the window never closes, so no count ends', 'let it close at night')];
  });

export const scheduleRules: readonly Rule[] = [calendarMode, timezones, windows, closings, counts];

/** Each window with its place in the file. */
function listPlacedWindows(spec: PipelineSpec): [Path, WindowSpec][] {
  return Object.entries(spec.actions).flatMap(([name, action]) => {
    const path = ['actions', name, 'window'];
    return listActionWindows(action).map((window, index): [Path, WindowSpec] => [
      Array.isArray(action.window) ? [...path, index] : path,
      window,
    ]);
  });
}

const neverCloses = ({ days, from, to }: WindowSpec): boolean =>
  new Set(days).size === DAYS.length && from === '00:00' && to === '24:00';

const lateInTheWeek = (path: Path, days: string): Finding =>
  warningAt(
    path,
    'late-in-the-week',
    `deploys may start on ${days}, the day before a day off`,
    'deploy in the mornings of Monday to Thursday',
  );

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

function cron(path: Path, text: string): Finding[] {
  const hint = 'write minute, hour, day of the month, month and day of the week: "0 10 * * 1-4", or @daily';
  const faults = calendarFaults(text);
  if (faults.length > 0) return faults.map((fault) => errorAt(path, 'invalid-cron', fault, hint));
  if (neverFires(text))
    return [errorAt(path, 'never-fires', `no day is ever ${text}`, 'name a day of the month that the month has')];
  const days = listWeekdays(text);
  const late = [5, 6, 0].filter((day) => days.has(day)).map((day) => DAYS[day]);
  return late.length > 0 ? [lateInTheWeek(path, late.join(', '))] : [];
}
