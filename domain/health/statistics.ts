import { bringsNews } from '../release/urgent';
import { deployId } from '../ids';
import type { HistoryRow } from '../views';
import { share, type Share } from './quality';
import { findTruths, type Truth } from './truth';

/** A pipeline and its records. */
export interface Past {
  readonly pipeline: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly history: readonly HistoryRow[];
}

/** The number of times that health checks may have been wrong (Conveyor §6.4.2, Table 3). */
export interface Counts {
  /** Among the deploys that were not cancelled: those that a person let continue although they were unhealthy, and that stayed. */
  readonly falsePositives: Share;
  /** Among the releases that deployed and succeeded: those that a person undid or patched although no check had objected. */
  readonly falseNegatives: Share;
}

/** A possible mistake of health checks, and the reason. */
export interface Suspect {
  /** The id of a deploy for a false positive, or of a release for a false negative. */
  readonly id: string;
  readonly kind: 'false-positive' | 'false-negative';
  readonly why: string;
}

export interface PipelineCounts extends Counts {
  readonly pipeline: string;
  readonly category: string;
  readonly suspects: readonly Suspect[];
}

export interface CategoryCounts extends Counts {
  readonly category: string;
  readonly pipelines: number;
}

export interface Statistics {
  readonly pipelines: readonly PipelineCounts[];
  readonly categories: readonly CategoryCounts[];
}

/**
 * Counts for each pipeline, and for each category: the label `category` of a pipeline. Only releases that ended at `sinceMs` or later
 * count; their later fate is searched for in the whole history.
 */
export function computeStatistics(pasts: readonly Past[], sinceMs: number = 0): Statistics {
  const pipelines = pasts.map((past) => pipelineCounts(past, sinceMs));
  const names = [...new Set(pipelines.map(({ category }) => category))].sort();
  return { pipelines, categories: names.map((name) => sumCategory(name, pipelines)) };
}

export const UNCATEGORISED = 'uncategorised';

export const getCategory = ({ labels }: Pick<Past, 'labels'>): string => labels['category'] ?? UNCATEGORISED;

function pipelineCounts({ pipeline, labels, history }: Past, sinceMs: number): PipelineCounts {
  const truths = findTruths(history);
  const releases = history
    .filter(({ endedAt }) => endedAt !== null && Date.parse(endedAt) >= sinceMs)
    .filter(({ trigger }) => bringsNews(trigger))
    .sort((a, b) => a.number - b.number)
    .map((row) => ({ row, deploys: listEndedDeploys(row, truths) }))
    .filter(({ deploys }) => deploys.length > 0);
  const deploys = releases.flatMap((release) => release.deploys);
  const wrong = deploys.filter(({ truth: { kind, overridden } }) => kind === 'good' && overridden.length > 0);
  const succeeded = releases.filter(({ row }) => row.state === 'succeeded');
  const missed = succeeded.flatMap(({ row, deploys: own }): Suspect[] => {
    const bad = own.find(({ truth: { kind, foundBy } }) => kind === 'bad' && foundBy === 'person');
    return bad ? [{ id: row.id, kind: 'false-negative', why: bad.truth.why }] : [];
  });
  return {
    pipeline,
    category: getCategory({ labels }),
    falsePositives: share(wrong.length, deploys.length),
    falseNegatives: share(missed.length, succeeded.length),
    suspects: [...wrong.map(({ id, truth }): Suspect => ({ id, kind: 'false-positive', why: truth.why })), ...missed],
  };
}

/** The deploys of a release that were not cancelled, each once regardless of its number of attempts. */
function listEndedDeploys(row: HistoryRow, truths: ReadonlyMap<string, Truth>): { id: string; truth: Truth }[] {
  const last = new Map(row.deploys.map(({ action, outcome }) => [action, outcome]));
  return [...last].flatMap(([action, outcome]) => {
    const id = deployId(row.pipeline, row.number, action);
    const truth = truths.get(id);
    return truth && outcome !== 'cancelled' ? [{ id, truth }] : [];
  });
}

function sumCategory(category: string, pipelines: readonly PipelineCounts[]): CategoryCounts {
  const own = pipelines.filter((one) => one.category === category);
  const sum = (of: (one: PipelineCounts) => Share): Share => {
    const shares = own.map(of);
    const total = (key: 'count' | 'of') => shares.reduce((so, one) => so + one[key], 0);
    return share(total('count'), total('of'));
  };
  return {
    category,
    pipelines: own.length,
    falsePositives: sum((one) => one.falsePositives),
    falseNegatives: sum((one) => one.falseNegatives),
  };
}
