import type { DeploySummary, HistoryRow, Pause, PipelineSummary, ReleaseSummary } from '../domain/views';
import { formatNamed } from '../domain/deploy/unavailable';
import { groupBy } from '../domain/groupBy';
import { listTable } from './columns';
import { paint, tint, type Colors, type View } from './paint';
import { ago, clock, took, untilWords, wholeSeconds } from './times';
import {
  artifactWords,
  deployWord,
  OUTCOME_SYMBOLS,
  PAUSED_SYMBOL,
  releaseWords,
  rerunWords,
  triggerWords,
  pauseWords,
} from './words';

/** The tables of `list` and `history`. `wide` adds columns, and cuts no cell. */

export function pipelineTable(rows: readonly PipelineSummary[], view: View, wide: boolean = false): string {
  const colors = paint(view.color);
  const heading = ['NAME', 'STATE', 'RUNNING', 'LAST', 'OWNERS', ...(wide ? ['LABELS', 'DESCRIPTION'] : [])];
  const cells = rows.map((row) => [
    colors.bold(row.id),
    pipelineStateText(row, view, colors) + staleWords(row, colors),
    row.active.join(', ') || '–',
    row.lastRelease === null ? '–' : String(row.lastRelease),
    row.owners.join(', '),
    ...(wide ? [labelList(row.labels), row.description] : []),
  ]);
  const empty = 'no pipelines; conveyor init writes a first one';
  return listTable({ heading, rows: cells, empty, wide, below: problemLines(rows, colors) }, view);
}

interface ListedWorkflow {
  readonly id: string;
  readonly problem?: string;
}

/** A workflow that does not answer is shown in its last known state; the reason is below. */
const staleWords = ({ problem }: ListedWorkflow, colors: Colors): string =>
  problem === undefined ? '' : colors.yellow(', last known');

/** Each problem once, with all rows that have it. */
export function problemLines(rows: readonly ListedWorkflow[], colors: Colors): string[] {
  const stuck = rows.flatMap(({ id, problem }) => (problem === undefined ? [] : [{ id, problem }]));
  return groupBy(stuck, ({ problem }) => problem).map(([problem, all]) =>
    colors.yellow(`⚠ ${formatNamed({ count: all.length, names: all.map(({ id }) => id) })}: ${problem}`),
  );
}

const formatFreeze = ({ frozenUntil: iso }: PipelineSummary, view: View): string =>
  iso === undefined ? '' : ` ${untilWords(iso, view)}`;

function pipelineStateText(row: PipelineSummary, view: View, colors: Colors): string {
  if (row.ended) return colors.dim('ended');
  if (row.state === 'active') return colors.green('✔ active');
  return tint(colors, PAUSED_SYMBOL.tone, `${PAUSED_SYMBOL.glyph} ${row.state}${formatFreeze(row, view)}`);
}

export function releaseTable(rows: readonly ReleaseSummary[], view: View, wide: boolean = false): string {
  const colors = paint(view.color);
  const heading = ['RELEASE', 'STATE', 'ARTIFACTS', 'STARTED', 'TOOK', ...(wide ? ['TRIGGER', 'KEY'] : [])];
  const cells = rows.map((row) => {
    return [
      colors.bold(row.id),
      releaseWords(row, colors) + rerunWords(row) + formatPausedDeploy(row) + staleWords(row, colors),
      artifactWords(row.artifacts),
      ago(row.startedAt, view),
      took(row.startedAt, row.endedAt, view),
      ...(wide ? [triggerWords(row), row.trigger.key ?? '–'] : []),
    ];
  });
  const paused = rows.flatMap(({ id, paused: own, pausedDeploy }) =>
    [own ? { ...own, id } : [], pausedDeploy ?? []].flat(),
  );
  const below = [...paused.map((pause) => pauseLine(pause.id, pause, view, colors)), ...problemLines(rows, colors)];
  return listTable(
    { heading, rows: cells, empty: 'no releases; conveyor release PIPELINE starts one', wide, below },
    view,
  );
}

const formatPausedDeploy = ({ id, pausedDeploy }: ReleaseSummary): string =>
  pausedDeploy === undefined ? '' : `, ${pausedDeploy.id.slice(id.length + 1)} paused`;

const pauseLine = (id: string, paused: Pause, view: View, colors: Colors): string =>
  tint(colors, PAUSED_SYMBOL.tone, `${PAUSED_SYMBOL.glyph} ${id} ${pauseWords({ paused }, view)}`);

export function deployTable(rows: readonly DeploySummary[], view: View, wide: boolean = false): string {
  const colors = paint(view.color);
  const heading = ['DEPLOY', 'STATE', 'VERSION', 'STARTED', 'TOOK', ...(wide ? ['PUSH TYPE', 'ATTEMPT', 'CLASS'] : [])];
  const cells = rows.map((row) => {
    const { word, sign } = deployWord(row);
    return [
      colors.bold(row.id),
      tint(colors, sign.tone, `${sign.glyph} ${word}`) + staleWords(row, colors),
      row.version,
      ago(row.startedAt, view),
      took(row.startedAt, row.endedAt, view),
      ...(wide ? [row.pushType, String(row.attempt), row.classification ?? '–'] : []),
    ];
  });
  const paused = rows.filter(({ outcome }) => outcome === null);
  const below = [
    ...paused.flatMap((row) => (row.paused === null ? [] : [pauseLine(row.id, row.paused, view, colors)])),
    ...problemLines(rows, colors),
  ];
  return listTable({ heading, rows: cells, empty: 'no deploys', wide, below }, view);
}

export function historyTable(rows: readonly HistoryRow[], view: View, wide: boolean = false): string {
  const colors = paint(view.color);
  const heading = [
    'RELEASE',
    'STATE',
    'DEPLOYS',
    'ARTIFACTS',
    'STARTED',
    'TOOK',
    ...(wide ? ['TRIGGER', 'CLASS'] : []),
  ];
  const cells = rows.map((row) => {
    const deploys = row.deploys.map((deploy) => {
      const sign = OUTCOME_SYMBOLS[deploy.outcome];
      const isRemoved = row.trigger.kind === 'undeploy' && deploy.outcome === 'succeeded';
      const word = isRemoved ? 'removed' : deploy.outcome;
      return `${deploy.action} ${deploy.version} ${tint(colors, sign.tone, `${sign.glyph} ${word}`)}`;
    });
    return [
      colors.bold(row.id),
      releaseWords(row, colors) + rerunWords(row),
      deploys.join('; ') || (row.durationMs === null ? 'under way' : '–'),
      artifactWords(row.artifacts),
      clock(row.startedAt, view),
      row.durationMs === null ? '–' : wholeSeconds(row.durationMs),
      ...(wide ? [triggerWords(row), row.deploys.map((deploy) => deploy.classification).join(', ') || '–'] : []),
    ];
  });
  return listTable({ heading, rows: cells, empty: 'no releases yet', wide }, view);
}

const labelList = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',') || '–';
