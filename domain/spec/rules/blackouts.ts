import { spanAt } from '../../calendar/blackout';
import { endKind, isRealDate, needsZone, type EndKind } from '../../calendar/ends';
import { everOpens } from '../../calendar/opening';
import { isTimezone } from '../../calendar/zone';
import { toOpenTimes, withBlackouts } from '../../release/openTimes';
import type { Rule } from '../rule';
import type { PipelineSpec } from '../pipeline';
import { errorAt, type Finding, type Path } from '../problem';
import type { BlackoutSpec } from '../times';

/** Blackouts that have an effect and leave some time to deploy. */

/** Each blackout with its place in the file. */
export function listBlackouts(spec: PipelineSpec): [Path, BlackoutSpec][] {
  const placed = (path: Path, blackouts: readonly BlackoutSpec[] = []) =>
    blackouts.map((blackout, index): [Path, BlackoutSpec] => [[...path, index], blackout]);
  const ofActions = Object.entries(spec.actions).flatMap(([name, action]) =>
    placed(['actions', name, 'blackouts'], action.blackouts),
  );
  return [...placed(['blackouts'], spec.blackouts), ...ofActions];
}

const blackoutFaults: Rule = (spec) => listBlackouts(spec).flatMap(([path, blackout]) => checkBlackout(path, blackout));

function checkBlackout(path: Path, blackout: BlackoutSpec): Finding[] {
  const kind = getBlackoutKind(blackout);
  const ends = (['from', 'to'] as const).map((key): [Path, string] => [[...path, key], blackout[key]]);
  const odd = ends.filter(([, end]) => endKind(end) !== kind);
  if (odd.length > 0)
    return odd.map(([at, end]) => errorAt(at, 'mixed-blackout', `${end} is ${A[endKind(end)]}`, WANTED[kind]));
  const unreal = ends.filter(([, end]) => !isRealDate(end));
  if (unreal.length > 0)
    return unreal.map(([at, end]) => errorAt(at, 'no-such-date', `${end} does not come`, 'name a day that there is'));
  if (blackout.timezone === undefined && ends.some(([, end]) => needsZone(end))) {
    const hint = 'add timezone: Europe/Berlin, or write instants such as 2026-12-24T00:00Z';
    return [errorAt(path, 'missing-timezone', 'a blackout without a timezone has no meaning', hint)];
  }
  return isEmptyBlackout(blackout, kind) ? [emptyAt([...path, 'to'], blackout)] : [];
}

const getBlackoutKind = ({ days, from }: BlackoutSpec): EndKind =>
  days !== undefined ? 'weekly' : endKind(from) === 'weekly' ? 'dated' : endKind(from);

const A: Readonly<Record<EndKind, string>> = {
  weekly: 'a time of day',
  yearly: 'a day of each year',
  dated: 'a date',
};

const WANTED: Readonly<Record<EndKind, string>> = {
  weekly: 'with days, write from and to as times such as 18:00',
  yearly: 'write from and to both as days such as 12-24, or both with their year',
  dated: 'write from and to both as dates such as 2026-12-24, or add days',
};

function isEmptyBlackout(blackout: BlackoutSpec, kind: EndKind): boolean {
  if (kind === 'weekly') return blackout.from === blackout.to;
  const { timezone } = blackout;
  if (kind === 'yearly' || (timezone !== undefined && !isTimezone(timezone))) return false;
  const span = spanAt(blackout, -Infinity);
  return span === undefined || span.toMs <= span.fromMs;
}

const emptyAt = (path: Path, { from, to }: BlackoutSpec): Finding =>
  errorAt(path, 'empty-blackout', `the blackout ends at ${to}, and begins at ${from}`, 'let it end later');

/** Recurring times are the same at any moment. */
const ANY_MONDAY_MS = Date.UTC(2023, 0, 2);

/** A wait for an opening that never comes would go unnoticed for weeks. */
const neverOpen: Rule = (spec) => {
  if ([...blackoutFaults(spec)].length > 0 || hasUnknownZone(spec)) return [];
  return Object.entries(spec.actions).flatMap(([name, action]): Finding[] => {
    const times = toOpenTimes(withBlackouts(spec, action));
    if (times === undefined || everOpens(times, ANY_MONDAY_MS)) return [];
    const at = action.blackouts ? ['actions', name, 'blackouts'] : ['blackouts'];
    return [
      errorAt(at, 'never-opens', `${name} never begins: blackouts cover all of its window`, 'leave it some hours'),
    ];
  });
};

const hasUnknownZone = (spec: PipelineSpec): boolean =>
  [
    ...listBlackouts(spec).map(([, { timezone }]) => timezone),
    ...Object.values(spec.actions).flatMap(listWindowZones),
  ].some((zone) => zone !== undefined && !isTimezone(zone));

const listWindowZones = (action: PipelineSpec['actions'][string]): string[] =>
  (toOpenTimes(action)?.windows ?? []).map(({ timezone }) => timezone);

/** An action that updates nothing and has no window begins even in a blackout of its pipeline. */
const idleBlackouts: Rule = (spec) => {
  const isGated = Object.values(spec.actions).some((action) => toOpenTimes(withBlackouts(spec, action)) !== undefined);
  if (spec.blackouts === undefined || isGated) return [];
  const hint = 'blackouts of a pipeline are for deploys, canaries and actions with a window; write them at the action';
  return [errorAt(['blackouts'], 'no-effect', 'no action heeds the blackouts', hint)];
};

export const blackoutRules: readonly Rule[] = [blackoutFaults, neverOpen, idleBlackouts];
