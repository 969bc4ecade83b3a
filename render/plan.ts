import { describeOffer } from '../domain/offers/judge';
import { getOnClose } from '../domain/release/openTimes';
import type { WindowSpec } from '../domain/spec/times';
import { experienceWords, type Experience } from '../domain/stats/experience';
import { formatDuration, plural } from '../domain/text';
import type { PlanView } from '../domain/views';
import { joinSections } from './deploy';
import { offsetIfTwice } from './offset';
import { alignRows, blockTable } from './columns';
import { paint, measureWidth, wrap, type Colors, type View } from './paint';

const UNITS_SHOWN = 4;

/** `conveyor plan -o json`. */
export interface PlanReport extends PlanView {
  /** Results of earlier deploys of its category; missing if no archive could be read. */
  readonly experience?: Experience;
}

/** The extent of each phase of a deploy, with its times, in the zone of the first window if there is one. */
export function renderPlan(plan: PlanReport, reader: View): string {
  const timeZone = plan.windows?.[0]?.timezone;
  const view = timeZone === undefined ? reader : { ...reader, timeZone };
  const colors = paint(view.color);
  const heading = ['PHASE', 'SCOPE', 'AMOUNT', 'REACHES', 'TASKS', 'STARTS', 'UPDATED', 'BAKED', 'UNITS'];
  const rows = plan.phases.map(({ startsAt, updatedAt, bakedAt, ...phase }) => [
    `${phase.index + 1} ${phase.name}`,
    phase.scope,
    phase.amount,
    `${Number(phase.effectivePercent.toPrecision(3))}%`,
    String(phase.units.reduce((total, unit) => total + unit.tasks, 0)),
    startsAt === null ? '–' : formatMoment(startsAt, view),
    laterWord(updatedAt, startsAt, view),
    laterWord(bakedAt, updatedAt, view),
    unitWords(phase.units),
  ]);
  const finish =
    plan.finishesAt === null
      ? 'end unknown'
      : `finishes ${formatMoment(plan.finishesAt, view)}, ${formatDuration(Math.max(0, Date.parse(plan.finishesAt) - view.now))} from now`;
  return joinSections(
    [
      [
        `${colors.bold(`${plan.pipeline} ${plan.action}`)}  ${plan.pattern}, ${plural(plan.phases.length, 'phase')}, ${finish}`,
        ...soakWords(plan),
        ...expiryWords(plan),
        ...windowWords(plan),
        ...blackoutWords(plan),
      ],
      blockTable(heading, rows, 'no phase', view).split('\n'),
      wishRows(plan, colors),
      unfitRows(plan, colors),
      checkRows(plan.checks, view, colors),
      experienceRows(plan, view, colors),
      plan.warnings.map((warning) => `${colors.yellow('⚠')} ${warning.code}: ${warning.message}`),
    ],
    view,
  );
}

/** The wishes that are not satisfied at present. */
function wishRows({ wishes = [] }: PlanReport, colors: Colors): string[] {
  const rows = wishes.flatMap(({ from, offer, range, why }) =>
    why === null ? [] : [[`  ${describeOffer({ name: offer, version: range })} of ${from}`, why]],
  );
  return rows.length === 0
    ? []
    : [`${colors.bold('Waits for')}, at present; the times do not include this`, ...alignRows(rows)];
}

/** The users of its own offers that make it wait. */
function unfitRows({ unfit }: PlanReport, colors: Colors): string[] {
  if (unfit === undefined) return [];
  const rows = unfit.users.map(({ offer, user, why }) => [`  ${user}`, `${why} (${offer})`]);
  const more = unfit.more > 0 ? [[`  and ${unfit.more} more`, '']] : [];
  return [
    `${colors.bold('Waits for users of its offers')}, at present, until they fit`,
    ...alignRows([...rows, ...more]),
  ];
}

/** A long rule is not cut: it continues on the next line. */
function checkRows(checks: PlanView['checks'], view: View, colors: Colors): string[] {
  if (checks.length === 0) return [];
  const room = Math.max(30, view.width - 4 - Math.max(...checks.map(({ name }) => measureWidth(name))));
  const rows = checks.flatMap(({ name, rule }) =>
    wrap(rule, room).map((line, index) => [index === 0 ? `  ${name}` : '', line]),
  );
  return [colors.bold('Unhealthy'), ...alignRows(rows)];
}

function experienceRows({ experience }: PlanReport, view: View, colors: Colors): string[] {
  const words = experience === undefined ? [] : experienceWords(experience);
  if (experience === undefined || words.length === 0) return [];
  const heading = `All pipelines of the category ${experience.category}, since ${formatDay(experience.since, view)}`;
  return [colors.bold(heading), ...words.map((sentence) => `  ${sentence}`)];
}

function soakWords({ soak }: PlanView): string[] {
  if (soak === undefined) return [];
  const where = 'action' in soak ? `in ${soak.action}` : `as ${soak.artifact} in ${soak.pipeline}`;
  return [`begins once its version has run for ${formatDuration(soak.for)} ${where}; the times do not include this`];
}

const expiryWords = ({ expireAfterMs: afterMs }: PlanView): string[] =>
  afterMs === undefined
    ? []
    : [`a release that waits in the queue for longer than ${formatDuration(afterMs)} is cancelled`];

/** When a deploy may update, and what a closing window does. */
export function windowWords({ windows = [] }: Pick<PlanView, 'windows'>): string[] {
  const [first, ...others] = windows;
  if (first === undefined) return [];
  const zoned = ({ timezone, ...window }: WindowSpec): string =>
    `${openWords(window)}${timezone === first.timezone ? '' : ` ${timezone}`}`;
  const or = others.map((window) => ` or ${zoned(window)}`).join('');
  return [`window ${openWords(first)}${or}, ${CLOSING[getOnClose({ windows })]}; times in ${first.timezone}`];
}

const CLOSING: Readonly<Record<WindowSpec['onClose'], string>> = {
  pause: 'updates pause at closing',
  'finish-phase': 'the phase under way may finish after closing',
  finish: 'a deploy that has begun may finish after closing',
};

export const blackoutWords = ({ blackouts = [] }: Pick<PlanView, 'blackouts'>): string[] =>
  blackouts.map(({ days = [], from, to, timezone, reason }) => {
    const when = `${days.length > 0 ? `${days.join(', ')} ` : ''}${from}–${to}`;
    return `blackout ${when}${timezone === undefined ? '' : ` ${timezone}`}: ${reason}`;
  });

const openWords = ({ days, from, to, maxDeploys }: Omit<WindowSpec, 'timezone' | 'onClose'>): string =>
  `${days.join(', ')} ${from}–${to}${maxDeploys === undefined ? '' : ` (${plural(maxDeploys, 'deploy')} at most)`}`;

/** `Mon 23 Nov 09:00`. */
const formatMoment = (iso: string, view: View): string => `${formatDay(iso, view)} ${formatTimeOfDay(iso, view)}`;

const formatDay = (iso: string, view: View): string =>
  formatDate(iso, view, { weekday: 'short', day: '2-digit', month: 'short' }).replace(',', '');

/** `09:00`, with seconds if there are any, and with the offset if the time occurs twice. */
function formatTimeOfDay(iso: string, view: View): string {
  const time = formatDate(iso, view, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
  return time.replace(/(:\d\d):00$/, '$1') + offsetIfTwice(Date.parse(iso), view);
}

const formatDate = (iso: string, { timeZone }: View, options: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat('en-GB', { ...options, ...(timeZone ? { timeZone } : {}) }).format(Date.parse(iso));

/** Adds the day only if it differs. */
function laterWord(iso: string | null, before: string | null, view: View): string {
  if (iso === null) return '–';
  const isSameDay = before !== null && formatDay(iso, view) === formatDay(before, view);
  return isSameDay ? formatTimeOfDay(iso, view) : formatMoment(iso, view);
}

function unitWords(units: PlanView['phases'][number]['units']): string {
  const shown = units.slice(0, UNITS_SHOWN).map((unit) => `${unit.id}: ${unit.tasks}`);
  const hidden = units.length - shown.length;
  return shown.join(', ') + (hidden > 0 ? `, … ${hidden} more` : '');
}
