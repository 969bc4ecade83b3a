import type { PipelineStatus } from '../../domain/views';
import { fieldLines, joinSections, nextSection } from './deploy';
import { releaseTable } from './lists';
import { alignRows, paint, tint, wrap, type View } from './paint';
import { ago, clock, PAUSED } from './words';

/** A pipeline for people: whether deploys may start, what is good and bad, its last releases. */
export function renderPipeline(pipeline: PipelineStatus, view: View): string {
  const colors = paint(view.color);
  const { held } = pipeline;
  const labels = Object.entries(pipeline.labels).map(([key, value]) => `${key}=${value}`);
  const fields = fieldLines(
    [
      ['Pipeline', colors.bold(pipeline.id)],
      pipeline.description === '' ? null : ['About', pipeline.description],
      [
        'Status',
        held === null ? colors.green(`✔ ${pipeline.state}`) : tint(colors, PAUSED.tone, `${PAUSED.glyph} held`),
      ],
      held === null ? null : ['Held', `by ${held.actor} ${ago(held.at, view)}: ${held.reason}`],
      ['Owners', pipeline.owners.join(', ')],
      labels.length === 0 ? null : ['Labels', labels.join(', ')],
    ],
    colors,
  );
  const good = Object.entries(pipeline.lastGood).map(([action, last]) => [
    `  ${action}`,
    last.version,
    colors.dim(`since release ${last.release}`),
  ]);
  const bad = pipeline.knownBad.flatMap((one) => [
    `  ${colors.red('✖')} ${one.artifact}  ${colors.dim(`since ${clock(one.at, view)}`)}`,
    ...wrap(one.reason, Math.max(20, view.width - 6)).map((line) => `      ${line}`),
  ]);
  const newestFirst = [...pipeline.releases].sort((a, b) => b.number - a.number);
  const sections = [
    fields,
    good.length === 0 ? [] : [colors.bold('In production'), ...alignRows(good)],
    bad.length === 0 ? [] : [colors.bold('Known bad'), ...bad],
    releaseTable(newestFirst.slice(0, view.compact ? 5 : 15), view).split('\n'),
    nextSection(nextOf(pipeline), pipeline.webUi, colors),
  ];
  return joinSections(sections, view);
}

function nextOf(pipeline: PipelineStatus): string[] {
  const newest = pipeline.active.at(-1);
  if (newest !== undefined) return [`conveyor watch ${pipeline.id}/${newest}`];
  if (pipeline.held !== null) return [`conveyor unhold ${pipeline.id} --reason "…"`];
  return [`conveyor release ${pipeline.id} --artifact NAME=VERSION --wait`];
}
