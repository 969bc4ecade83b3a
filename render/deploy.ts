import { computeTotals } from '../domain/deploy/counts';
import { sparkline } from '../domain/sparkline';
import { plural } from '../domain/text';
import type { DeployStatus, HealthRow, RevertView, Spans, TimelineEntry } from '../domain/views';
import { ago, clock, took, wholeSeconds } from './times';
import { dependencyWords, deployWord, PAUSED_SYMBOL, pauseWords, undoneLine, VERDICT_SYMBOLS } from './words';
import { alignRows } from './columns';
import { foldAll, paint, tint, wrap, type Colors, type View } from './paint';
import { phaseRows, summaryWords } from './phases';
import { findGivenReasons, listRepeatedReasons, withoutOwnEnd, withoutReason, withoutReasons } from './repeatedReasons';

/**
 * A deploy for people: its version and state, the reason and end of its wait, its phases, health and timeline, and the
 * next commands to type.
 */
export function renderDeploy(deploy: DeployStatus, view: View): string {
  const colors = paint(view.color);
  const given = findGivenReasons(listRepeatedReasons(deploy), [deploy.summary, deploy.paused?.reason ?? '']);
  const sections = [
    fieldLines(deployFields(deploy, view, colors), colors),
    alignRows(phaseRows(deploy, view)),
    healthSection(deploy.health, view, colors, given),
    revertSection(deploy, view, colors, given),
    timelineSection(withoutReasons(withoutOwnEnd(deploy), given), view, colors),
    nextSection(deploy.next, deploy.webUi, colors),
  ];
  return joinSections(sections, view);
}

/** Non-empty sections, separated by blank lines, with every line folded to the width. */
export function joinSections(sections: readonly (readonly string[])[], view: View): string {
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => foldAll(lines, view).join('\n'))
    .join('\n\n');
}

/** Names with their values; null is left out. */
export type Fields = readonly (readonly [name: string, value: string] | null)[];

/** `Name:    value` lines. */
export function fieldLines(fields: Fields, colors: Colors): string[] {
  const given = fields.filter((field): field is readonly [string, string] => field !== null);
  return given.map(([name, value]) => `${colors.bold(`${name}:`.padEnd(10))} ${value}`);
}

/**
 * Health rows, the worst first: sign, place, observed value and limit; a sentence for every row that is not healthy.
 * @param given reasons already shown above
 */
export function healthSection(
  rows: readonly HealthRow[],
  view: View,
  colors: Colors,
  given: readonly string[] = [],
): string[] {
  if (rows.length === 0) return [];
  const sorted = sortHealthRows(rows);
  const shown = sorted.slice(0, view.compact ? 4 : 12);
  const aligned = alignRows(
    shown.map((row) => {
      const { glyph, tone } = VERDICT_SYMBOLS[row.verdict];
      return [
        `  ${tint(colors, tone, `${glyph} ${row.verdict}`)}`,
        row.unit,
        row.check,
        measurementText(row),
        drawTrend(row),
      ];
    }),
  );
  const lines = shown.flatMap((row, at) => [
    aligned[at] ?? '',
    ...(given.includes(row.reason) ? [] : formatHealthReason(row, view, colors)),
  ]);
  const hidden = sorted.slice(shown.length);
  const more = hidden.length > 0 ? [colors.dim(`  … ${hidden.length} more, all ${formatHiddenVerdicts(hidden)}`)] : [];
  return [colors.bold('Health'), ...lines, ...more];
}

/** The worst first. */
export const sortHealthRows = (rows: readonly HealthRow[]): readonly HealthRow[] =>
  [...rows].sort((a, b) => WORST_FIRST.indexOf(a.verdict) - WORST_FIRST.indexOf(b.verdict));

const WORST_FIRST: readonly HealthRow['verdict'][] = ['unhealthy', 'errored', 'inconclusive', 'healthy'];

export function timelineSection(entries: readonly TimelineEntry[], view: View, colors: Colors): string[] {
  if (entries.length === 0) return [];
  const shown = entries.slice(view.compact ? -4 : -10);
  const earlier = entries.length - shown.length;
  const cells = shown.map((entry) => [`  ${colors.dim(clock(entry.at, view))}`, entry.kind, colors.dim(entry.text)]);
  const more = earlier > 0 ? [colors.dim(`  … ${earlier} before; -o json shows all`)] : [];
  return [colors.bold('Timeline'), ...more, ...alignRows(cells)];
}

export function nextSection(next: readonly string[], webUi: string, colors: Colors): string[] {
  const commands =
    next.length === 0 ? [] : [colors.bold('Next'), ...next.map((command) => `  ${colors.cyan(command)}`)];
  return webUi === '' ? commands : [...commands, `${colors.bold('Web UI')}  ${colors.underline(webUi)}`];
}

/** A deploy in sentences: its state, its wait, its pause, its version and its time. */
export function deployFields(deploy: DeployStatus, view: View, colors: Colors): Fields {
  const { word, sign } = deployWord(deploy);
  const state = `${tint(colors, sign.tone, `${sign.glyph} ${word}`)}${formatClassification(deploy)}`;
  const attempt = deploy.attempt > 1 ? `, attempt ${deploy.attempt}` : '';
  const pause = withoutReason(
    pauseWords(deploy, view),
    findGivenReasons(listRepeatedReasons(deploy), [deploy.summary]),
  );
  const now = deploy.paused === null ? '' : dependencyWords(deploy.paused, view);
  return [
    ['Deploy', colors.bold(deploy.id)],
    ['Status', deploy.summary === '' ? state : `${state}  ${summaryWords(deploy, view)}`],
    formatLandedLine(deploy),
    undoneLine(deploy, view),
    pause === '' ? null : ['Paused', tint(colors, PAUSED_SYMBOL.tone, `${PAUSED_SYMBOL.glyph} ${pause}`)],
    now === '' ? null : ['Now', now],
    formatHolderLine(deploy, view),
    ['Version', `${deploy.version} by ${deploy.pushType}${attempt}`],
    ['Time', timeLine(deploy, view)],
  ];
}

const formatLandedLine = ({ landed, outcome }: DeployStatus): readonly [string, string] | null =>
  landed === undefined
    ? null
    : [
        'Landed',
        `change ${landed.change} is on the branch as ${landed.commit} and reaches all hosts: it had landed before the deploy ${outcome === 'cancelled' ? 'was cancelled' : 'failed'}`,
      ];

function formatClassification({ classification, progress = null }: DeployStatus): string {
  if (classification === null || classification === 'success') return '';
  return ` (${classification}${progress === null ? '' : ` at ${Math.round(progress * 100)}%`})`;
}

function formatHolderLine({ heldBy, lock = null }: DeployStatus, view: View): readonly [string, string] | null {
  if (heldBy === undefined) return null;
  const since = heldBy.since === null ? '' : ` since ${clock(heldBy.since, view)} (${ago(heldBy.since, view)})`;
  return ['Held by', `${heldBy.id}${since}, according to ${lock ?? 'its lock'}`];
}

function timeLine(deploy: DeployStatus, view: View): string {
  const total = `started ${clock(deploy.startedAt, view)}, ${deploy.endedAt === null ? 'running' : 'took'} ${took(deploy.startedAt, deploy.endedAt, view)}`;
  const parts = deploy.endedAt === null ? '' : spanWords(deploy.spans);
  return parts === '' ? total : `${total} (${parts})`;
}

const SPAN_WORDS: readonly (readonly [keyof Spans, string])[] = [
  ['lockWaitMs', 'lock wait'],
  ['windowWaitMs', 'window wait'],
  ['pausedMs', 'paused'],
  ['dependencyWaitMs', 'dependency wait'],
  ['preMs', 'pre'],
  ['updateMs', 'update'],
  ['bakeMs', 'bake'],
  ['postMs', 'post'],
  ['revertMs', 'revert'],
];

/** `update 12s, bake 10m`: how the time was spent; parts under a second are left out. */
const spanWords = (spans: Spans): string =>
  SPAN_WORDS.filter(([key]) => spans[key] >= 1000)
    .map(([key, word]) => `${word} ${wholeSeconds(spans[key])}`)
    .join(', ');

/** The reason in full if a person should look; missing data takes a line at most, and a healthy check none. */
function formatHealthReason({ verdict, reason }: HealthRow, view: View, colors: Colors): string[] {
  if (verdict === 'healthy') return [];
  const room = Math.max(20, view.width - 7);
  const [first = '', ...more] = wrap(reason, room);
  if (verdict === 'inconclusive') return [colors.dim(`      ${first}${more.length > 0 ? '…' : ''}`)];
  return [first, ...more].map((line) => `      ${line}`);
}

/** `0.21, limit 0.05 (12 samples)`. */
export function measurementText(row: HealthRow): string {
  const parts = [row.observed === null ? 'no value' : figure(row.observed)];
  if (row.reference !== null) parts.push(`against ${figure(row.reference)}`);
  if (row.threshold !== null) parts.push(`limit ${figure(row.threshold)}`);
  return `${parts.join(', ')} (${row.samples} sample${row.samples === 1 ? '' : 's'})`;
}

const drawTrend = ({ recent = [], threshold }: HealthRow): string => sparkline(recent, threshold);

/** Three digits: `0.213`. */
export const figure = (value: number): string => String(Number(value.toPrecision(3)));

function formatHiddenVerdicts(rows: readonly HealthRow[]): string {
  return [...new Set(rows.map((row) => row.verdict))].join(' or ');
}

/** The reverted units and their progress; nothing without a revert. The reason is printed only if it is not shown above. */
export function revertSection(deploy: DeployStatus, view: View, colors: Colors, given: readonly string[]): string[] {
  const { revert } = deploy;
  if (revert === null) return [];
  const cells = revert.units.map((unit) => [
    `  ${unit.id}`,
    `back to ${unit.toVersion}`,
    `${unit.live}/${unit.targeted} live`,
  ]);
  const hidden = computeTotals(revert).units - revert.units.length;
  const leftOut = (revert.leftOut ?? []).map(({ id, reason }) => `  ${id}: not brought back: ${reason}`);
  return [
    `${colors.bold('Revert')}  ${revertWords(revert, view, given)}`,
    ...alignRows(cells),
    ...(hidden > 0 ? [`  ${plural(hidden, 'more unit')}`] : []),
    ...leftOut,
  ];
}

/** `by health, took 7s: errors of kvstore-x is unhealthy`. @param given reasons already shown above */
export function revertWords(revert: RevertView, view: View, given: readonly string[] = []): string {
  const when =
    revert.endedAt === null
      ? `since ${clock(revert.startedAt, view)}`
      : `took ${took(revert.startedAt, revert.endedAt, view)}`;
  return `by ${revert.by}, ${when}${given.includes(revert.reason) ? '' : `: ${revert.reason}`}`;
}
