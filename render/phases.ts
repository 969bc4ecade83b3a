import { computeTotals } from '../domain/deploy/counts';
import { plural } from '../domain/text';
import type { DeployStatus, PhaseView, UnitCounts } from '../domain/views';
import { paint, tint, type Colors, type View } from './paint';
import { clock, took, until } from './times';
import { deployWord, isBaking, phaseWord } from './words';

const PHASE_BAR_WIDTH = 10;
const MANY_PHASES = 12;
const MANY_UNITS = 12;
const UNITS_OF_A_PHASE = 8;

/** Rows of the tree deploy → phases → units, with cells to be aligned: name, scope and amount, state, bar, counts, note. */
export function phaseRows(deploy: DeployStatus, view: View, indent: string = ''): string[][] {
  const colors = paint(view.color);
  const { word, sign } = deployWord(deploy);
  const top = [
    `${indent}${colors.bold(deploy.id)}`,
    '',
    tint(colors, sign.tone, `${sign.glyph} ${word}`),
    '',
    deploy.version,
  ];
  const { shown, before, after } = aroundTheCurrent(deploy.phases);
  const rows: string[][] = [top];
  if (before.length > 0)
    rows.push([
      `${indent}├─ ${colors.dim(`${plural(before.length, 'phase')} before`)}`,
      '',
      formatFoldedPhases(before, colors),
    ]);
  shown.forEach((phase, at) => {
    const last = at === shown.length - 1 && after.length === 0;
    rows.push(phaseCells(phase, deploy, `${indent}${last ? '└─ ' : '├─ '}`, view));
    rows.push(...unitRows(phase, deploy, `${indent}${last ? '   ' : '│  '}`, view, colors));
  });
  if (after.length > 0)
    rows.push([
      `${indent}└─ ${colors.dim(`${plural(after.length, 'phase')} after`)}`,
      '',
      formatFoldedPhases(after, colors),
    ]);
  return rows;
}

/** The summary of a deploy, with the rest of its bake if the summary says when it ends. */
export function summaryWords(deploy: DeployStatus, view: View): string {
  const named = deploy.phases.flatMap((phase) => bakeEndIn(phase, deploy, view) ?? [])[0];
  if (named === undefined) return deploy.summary;
  return deploy.summary.replace(named.words, `${named.words} (${until(named.iso, view)})`);
}

/**
 * The part of a deploy's summary that says when a phase's bake ends, if any; its times may already be in the reader's
 * zone.
 */
function bakeEndIn(phase: PhaseView, { summary }: DeployStatus, view: View) {
  const { bakeUntil: iso } = phase;
  if (iso === null || !isBaking(phase)) return undefined;
  const words = [iso, clock(iso, view)].map((time) => `until ${time}`).find((one) => summary.includes(one));
  return words === undefined ? undefined : { iso, words };
}

/** `██████░░░░`: the filled part is live, the half-filled part is updated but not live yet. */
function bar(counts: Pick<UnitCounts, 'targeted' | 'updated' | 'live'>, colors: Colors): string {
  if (counts.targeted === 0) return '';
  const filled = (count: number): number =>
    Math.max(0, Math.min(PHASE_BAR_WIDTH, Math.floor((count / counts.targeted) * PHASE_BAR_WIDTH)));
  const live = filled(counts.live);
  const updated = Math.max(0, filled(counts.updated) - live);
  return (
    colors.green('█'.repeat(live)) +
    colors.yellow('▓'.repeat(updated)) +
    colors.dim('░'.repeat(PHASE_BAR_WIDTH - live - updated))
  );
}

interface FoldedPhases {
  readonly before: readonly PhaseView[];
  readonly shown: readonly PhaseView[];
  readonly after: readonly PhaseView[];
}

/** The phases around the running one; if there are many, the others are folded into one line. */
function aroundTheCurrent(phases: readonly PhaseView[]): FoldedPhases {
  if (phases.length <= MANY_PHASES) return { before: [], shown: phases, after: [] };
  const active = phases.findIndex((phase) => phase.state === 'running' || phase.state === 'failed');
  const first = phases.findIndex((phase) => phase.state === 'waiting');
  const current = active >= 0 ? active : first >= 0 ? first : phases.length - 1;
  const from = Math.max(0, Math.min(current - 3, phases.length - 8));
  return { before: phases.slice(0, from), shown: phases.slice(from, from + 8), after: phases.slice(from + 8) };
}

function formatFoldedPhases(phases: readonly PhaseView[], colors: Colors): string {
  const words = [...new Set(phases.map((phase) => phaseWord(phase).word))];
  return colors.dim(words.join(', '));
}

function phaseCells(phase: PhaseView, deploy: DeployStatus, branch: string, view: View): string[] {
  const colors = paint(view.color);
  const { word, sign } = phaseWord(phase);
  // Reverted units no longer run the version, even if they were updated once.
  const counts = computeTotals(phase.state === 'reverted' ? { units: [] } : phase);
  const quiet = phase.state === 'waiting';
  const name = `${branch}${phase.index + 1} ${quiet ? colors.dim(phase.name) : phase.name}`;
  const tasks = counts.targeted === 0 ? '' : formatDone(counts, phase);
  const scope = colors.dim(`${phase.amount} of ${phase.scope}`);
  return [
    name,
    scope,
    tint(colors, sign.tone, `${sign.glyph} ${word}`),
    bar(counts, colors),
    tasks,
    phaseNote(phase, deploy, view),
  ];
}

/** `3/6 live`. */
export const formatDone = ({ live, targeted }: Pick<UnitCounts, 'live' | 'targeted'>, { removes }: PhaseView): string =>
  `${live}/${targeted} ${removes ? 'gone' : 'live'}`;

/** The end of its bake, or its durations. */
export function phaseNote(phase: PhaseView, deploy: DeployStatus, view: View): string {
  if (phase.skipped !== null) return `skipped ${phase.skipped}`;
  if (isBaking(phase) && phase.bakeUntil !== null && !bakeEndIn(phase, deploy, view))
    return `bake ends ${until(phase.bakeUntil, view)}`;
  if (phase.startedAt === null) return '';
  if (phase.state === 'reverted') return 'taken back';
  if (phase.updatedAt === null)
    return phase.state === 'running'
      ? `${phase.removes ? 'removing' : 'updating'} for ${took(phase.startedAt, null, view)}`
      : '';
  const update = `${phase.removes ? 'removed' : 'updated'} in ${took(phase.startedAt, phase.updatedAt, view)}`;
  return phase.bakedAt === null ? update : `${update}, baked ${took(phase.updatedAt, phase.bakedAt, view)}`;
}

/** Units of the running or failed phase, and of all phases if they are few. */
function unitRows(phase: PhaseView, deploy: DeployStatus, indent: string, view: View, colors: Colors): string[][] {
  const few = deploy.phases.reduce((total, one) => total + computeTotals(one).units, 0) <= MANY_UNITS;
  const current = phase.state === 'running' || phase.state === 'failed';
  if (
    phase.startedAt === null ||
    phase.units.length === 0 ||
    phase.state === 'reverted' ||
    !(current || (few && !view.compact))
  )
    return [];
  const unfinished = phase.units.filter((unit) => unit.live < unit.targeted);
  const ordered =
    phase.units.length <= UNITS_OF_A_PHASE
      ? phase.units
      : [...unfinished, ...phase.units.filter((unit) => unit.live >= unit.targeted)];
  const shown = ordered.slice(0, UNITS_OF_A_PHASE);
  const hidden = Math.max(ordered.length, computeTotals(phase).units) - shown.length;
  const rows = shown.map((unit, at) => {
    const branch = at === shown.length - 1 && hidden === 0 ? '└─ ' : '├─ ';
    return [
      `${indent}${branch}${unit.id}`,
      '',
      '',
      bar(unit, colors),
      formatDone(unit, phase),
      isPaused(deploy, unit) ? 'paused by health' : unitNote(unit),
    ];
  });
  if (hidden === 0) return rows;
  const done = unfinished.length <= shown.length ? ', all done' : '';
  return [...rows, [`${indent}└─ ${colors.dim(`${plural(hidden, 'more unit')}${done}`)}`]];
}

export const isPaused = ({ pausedGroups = [] }: DeployStatus, { id }: UnitCounts): boolean =>
  pausedGroups.some(({ units }) => units.includes(id));

export const unitNote = (unit: UnitCounts): string =>
  unit.updated > unit.live ? `${unit.updated - unit.live} updated, not live yet` : '';
