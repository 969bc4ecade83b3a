import { releaseId } from '../ids';
import { alignCells, block, list, formatMarkdown, NO_MARKDOWN, sections } from '../markdown';
import type { ChildFailure, ChildrenView } from '../views';
import { isFanOutOver, type FanOutInput, type FanOutState, type ShardRecord } from './fanOut';
import { KEPT_FAILURES, type ShardReport } from './window';

const COUNTS = ['waiting', 'running', 'succeeded', 'failed', 'cancelled', 'notStarted'] as const;

/** The children of a release in `status`; it succeeded only if all of them did. */
export function childrenView(state: FanOutState): ChildrenView {
  const { stage, shards, stop, commands } = state;
  const reports = shards.map((shard) => reportNow(shard, stop !== null));
  const counts = Object.fromEntries(
    COUNTS.map((name) => [name, reports.reduce((sum, report) => sum + report[name], 0)]),
  ) as Record<(typeof COUNTS)[number], number>;
  const total = shards.reduce((sum, { size }) => sum + size, 0);
  const under = stage === 'rest' ? 'running' : stage;
  const bad = counts.failed + counts.cancelled;
  return {
    state: isFanOutOver(state) ? fanOutOutcome(state, bad, counts.notStarted) : under,
    total,
    ...counts,
    failures: reports.flatMap<ChildFailure>(({ failures }) => failures).slice(0, KEPT_FAILURES),
    reason: stop?.reason ?? (bad > 0 ? `${bad} of ${total} did not succeed` : null),
    commands,
  };
}

/** A shard's own part of it. */
export function shardView(report: ShardReport): Omit<ChildrenView, 'commands'> {
  const { waiting, running, failed, cancelled } = report;
  const total = COUNTS.reduce((sum, name) => sum + report[name], 0);
  const end = failed + cancelled > 0 ? 'failed' : 'succeeded';
  return { ...report, state: waiting + running > 0 ? 'running' : end, total, reason: null };
}

/** The current details of a fan-out, or of one shard of it, in the Temporal Web UI (docs/design/workflows.md#in-the-web-ui). */
export function childrenDetails(title: string, view: Omit<ChildrenView, 'commands'>, next: readonly string[]): string {
  const rows = COUNTS.filter((name) => view[name] > 0).map((name) => [WORDS[name], String(view[name])]);
  return sections(
    formatMarkdown`## ${title}`,
    formatMarkdown`**${view.state}**: ${view.total} children${view.reason === null ? '' : formatMarkdown`; ${view.reason}`}`,
    alignCells(rows),
    list(
      'Did not succeed',
      view.failures.map(({ id, reason }) => formatMarkdown`${id}: ${reason}`),
    ),
    next.length > 0 ? formatMarkdown`Next:\n${block(next)}` : NO_MARKDOWN,
  );
}

const WORDS: Readonly<Record<(typeof COUNTS)[number], string>> = {
  waiting: 'waiting',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  notStarted: 'not started',
};

/** Suggested commands, most useful first. */
export function nextForChildren({ pipeline, number }: FanOutInput, state: FanOutState): string[] {
  const id = releaseId(pipeline, number);
  return isFanOutOver(state)
    ? [`conveyor status ${id}`]
    : [`conveyor status ${id}`, `conveyor cancel ${id} --reason "…"`];
}

/** All children of a shard without a report are waiting, unless it will never start. */
function reportNow({ size, state, report }: ShardRecord, isStopped: boolean): ShardReport {
  if (report !== null) return report;
  const never = isStopped && state === 'waiting';
  return { ...NO_CHILDREN, waiting: never ? 0 : size, notStarted: never ? size : 0 };
}

const NO_CHILDREN = { running: 0, succeeded: 0, failed: 0, cancelled: 0, failures: [] } as const;

function fanOutOutcome({ stop }: FanOutState, bad: number, notStarted: number): 'succeeded' | 'failed' | 'cancelled' {
  if (stop?.by === 'command' && notStarted > 0) return 'cancelled';
  return stop?.by === 'verdict' || bad > 0 ? 'failed' : 'succeeded';
}
