import type { DeploySummary, HistoryRow, PipelineSummary, ReleaseSummary } from '../../domain/views';
import { paint, table, tint, type Colors, type View } from './paint';
import {
  ago,
  artifactWords,
  clock,
  deployWord,
  OUTCOME_SYMBOLS,
  PAUSED_SYMBOL,
  releaseWords,
  rerunWords,
  took,
  triggerWords,
  untilWords,
  wholeSeconds,
  pauseWords,
} from './words';

/** The tables of `list` and `history`. `wide` adds columns. */

export function pipelineTable(rows: readonly PipelineSummary[], view: View, wide: boolean = false): string {
  const colors = paint(view.color);
  const heading = ['NAME', 'STATE', 'RUNNING', 'LAST', 'OWNERS', ...(wide ? ['LABELS', 'DESCRIPTION'] : [])];
  const cells = rows.map((row) => [
    colors.bold(row.id),
    pipelineStateText(row, view, colors) + problemWords(row, colors),
    row.active.join(', ') || '–',
    row.lastRelease === null ? '–' : String(row.lastRelease),
    row.owners.join(', '),
    ...(wide ? [labelList(row.labels), row.description] : []),
  ]);
  return table(heading, cells, 'no pipelines; conveyor init writes a first one', view);
}

const problemWords = ({ problem }: { readonly problem?: string }, colors: Colors): string =>
  problem === undefined ? '' : colors.yellow(`, as it was: ⚠ ${problem}`);

const frozenUntil = ({ frozenUntil: iso }: PipelineSummary, view: View): string =>
  iso === undefined ? '' : ` ${untilWords(iso, view)}`;

function pipelineStateText(row: PipelineSummary, view: View, colors: Colors): string {
  if (row.ended) return colors.dim('ended');
  if (row.state === 'active') return colors.green('✔ active');
  return tint(colors, PAUSED_SYMBOL.tone, `${PAUSED_SYMBOL.glyph} ${row.state}${frozenUntil(row, view)}`);
}

export function releaseTable(rows: readonly ReleaseSummary[], view: View, wide: boolean = false): string {
  const colors = paint(view.color);
  const heading = ['RELEASE', 'STATE', 'ARTIFACTS', 'STARTED', 'TOOK', ...(wide ? ['TRIGGER', 'KEY'] : [])];
  const cells = rows.map((row) => {
    return [
      colors.bold(row.id),
      releaseWords(row, colors) + rerunWords(row) + pausedDeployWords(row) + problemWords(row, colors),
      artifactWords(row.artifacts),
      ago(row.startedAt, view),
      took(row.startedAt, row.endedAt, view),
      ...(wide ? [triggerWords(row), row.trigger.key ?? '–'] : []),
    ];
  });
  const below = pausesBelow(rows, view, colors);
  return `${table(heading, cells, 'no releases; conveyor release PIPELINE starts one', view)}${below}`;
}

const pausedDeployWords = ({ id, pausedDeploy }: ReleaseSummary): string =>
  pausedDeploy === undefined ? '' : `, ${pausedDeploy.id.slice(id.length + 1)} paused`;

/** Below the table: a reason is too long for a cell, and never cut. */
function pausesBelow(rows: readonly ReleaseSummary[], view: View, colors: Colors): string {
  const { glyph, tone } = PAUSED_SYMBOL;
  const lines = rows.flatMap(({ pausedDeploy: paused }) =>
    paused === undefined ? [] : [tint(colors, tone, `${glyph} ${paused.id} ${pauseWords({ paused }, view)}`)],
  );
  return lines.map((line) => `\n${line}`).join('');
}

export function deployTable(rows: readonly DeploySummary[], view: View, wide: boolean = false): string {
  const colors = paint(view.color);
  const heading = ['DEPLOY', 'STATE', 'VERSION', 'STARTED', 'TOOK', ...(wide ? ['PUSH TYPE', 'ATTEMPT', 'CLASS'] : [])];
  const cells = rows.map((row) => {
    const { word, sign } = deployWord(row);
    return [
      colors.bold(row.id),
      tint(colors, sign.tone, `${sign.glyph} ${word}`) + whyPaused(row, view) + problemWords(row, colors),
      row.version,
      ago(row.startedAt, view),
      took(row.startedAt, row.endedAt, view),
      ...(wide ? [row.pushType, String(row.attempt), row.classification ?? '–'] : []),
    ];
  });
  return table(heading, cells, 'no deploys', view);
}

const whyPaused = (row: DeploySummary, view: View): string =>
  row.outcome !== null || row.paused === null ? '' : ` ${pauseWords(row, view)}`;

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
      return `${deploy.action} ${deploy.version} ${tint(colors, sign.tone, `${sign.glyph} ${deploy.outcome}`)}`;
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
  return table(heading, cells, 'no releases yet', view);
}

const labelList = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',') || '–';
