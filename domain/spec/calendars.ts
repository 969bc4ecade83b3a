import { SPEC_LIMITS } from '../limits';
import { errorAt, type Finding, type Path } from './problem';
import type { BlackoutSpec } from './times';
import { isJsonObject, type JsonObject } from '../json';

/** Blackouts from calendar files: `{ ics: holidays.ics }` becomes the dated blackouts in it. */
export type CalendarReader = (path: string, timezone: string | undefined) => CalendarFile;

export interface CalendarFile {
  readonly blackouts: readonly BlackoutSpec[];
  readonly findings: readonly Omit<Finding, 'path'>[];
}

export interface WithCalendars {
  readonly value: unknown;
  readonly findings: readonly Finding[];
  /** The place in the original file of a finding in `value`. */
  readonly placed: (finding: Finding) => Finding;
}

interface Entry {
  readonly value: unknown;
  /** Its index in the file. */
  readonly from: number;
}

/** Without a reader, as behind an API, the schema refuses calendars. */
export function withCalendars(value: unknown, read: CalendarReader | undefined): WithCalendars {
  const untouched = { value, findings: [], placed: (finding: Finding) => finding };
  if (read === undefined || !isJsonObject(value)) return untouched;
  const findings: Finding[] = [];
  const lists = new Map<string, { readonly path: Path; readonly entries: readonly Entry[] }>();
  const expand = (path: Path, holder: JsonObject): JsonObject => {
    const list = holder['blackouts'];
    if (!Array.isArray(list) || !list.some(isReference)) return holder;
    const entries = list.flatMap((entry: unknown, from): Entry[] => {
      if (!isReference(entry)) return [{ value: entry, from }];
      const file = read(entry.ics, entry.timezone);
      const all = [
        ...file.findings.map((finding) => ({ ...finding, path: [...path, from, 'ics'] })),
        ...tooManyBlackouts(file, entry.ics, [...path, from, 'ics']),
      ];
      findings.push(...all);
      return file.blackouts.slice(0, MOST).map((one) => ({ value: one, from }));
    });
    lists.set(path.join('\n'), { path, entries });
    return { ...holder, blackouts: entries.map((entry) => entry.value) };
  };
  const whole = expand(['blackouts'], value);
  const actions = isJsonObject(whole['actions']) ? whole['actions'] : undefined;
  const expanded = actions && {
    actions: Object.fromEntries(
      Object.entries(actions).map(([name, action]) => [
        name,
        isJsonObject(action) ? expand(['actions', name, 'blackouts'], action) : action,
      ]),
    ),
  };
  if (lists.size === 0) return untouched;
  return { value: { ...whole, ...expanded }, findings, placed: (finding) => inFile([...lists.values()], finding) };
}

function inFile(
  lists: readonly { readonly path: Path; readonly entries: readonly Entry[] }[],
  finding: Finding,
): Finding {
  const list = lists.find(({ path }) => path.every((key, depth) => finding.path[depth] === key));
  const index = list && finding.path[list.path.length];
  const entry = typeof index === 'number' ? list?.entries[index] : undefined;
  if (list === undefined || entry === undefined) return finding;
  return { ...finding, path: [...list.path, entry.from, ...finding.path.slice(list.path.length + 1)] };
}

const MOST = SPEC_LIMITS.blackouts.max;

function tooManyBlackouts({ blackouts }: CalendarFile, ics: string, path: Path): Finding[] {
  if (blackouts.length <= MOST) return [];
  const message = `${ics}: it has ${blackouts.length} blackouts in three years, more than ${MOST}`;
  return [errorAt(path, 'calendar-too-full', message, 'keep those that matter here in a file of their own')];
}

interface CalendarReference {
  readonly ics: string;
  readonly timezone?: string;
}

/** The schema reports malformed ones. */
const isReference = (entry: unknown): entry is CalendarReference =>
  isJsonObject(entry) &&
  isShortText(entry['ics']) &&
  (entry['timezone'] === undefined || isShortText(entry['timezone'])) &&
  Object.keys(entry).every((key) => key === 'ics' || key === 'timezone');

const isShortText = (value: unknown): boolean =>
  typeof value === 'string' && value !== '' && value.length <= SPEC_LIMITS.word.max;
