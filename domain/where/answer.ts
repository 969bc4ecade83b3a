import { groupBy } from '../groupBy';
import { WHERE_LIMITS } from '../limits';
import { listCandidates, type RevisionQuestion } from './revision';
import type { WhereRelease, WhereSearched, WhereView } from './view';

/** The parts of a release by which an answer counts it. */
export type CountedRelease = Pick<WhereRelease, 'id' | 'contains' | 'state' | 'endedAt'>;
export type WhereCounts = Pick<WhereView, 'total' | 'underWay' | 'succeeded'>;

export const countReleases = (found: readonly CountedRelease[]): WhereCounts => ({
  total: found.length,
  underWay: found.filter(({ endedAt }) => endedAt === null).length,
  succeeded: found.filter(({ state }) => state === 'succeeded').length,
});

/** The answer without its releases; of an ambiguous abbreviation it has the revisions instead. Newest release first. */
export function answerWhere(
  question: RevisionQuestion,
  found: readonly CountedRelease[],
  counts: WhereCounts,
  searched: WhereSearched,
): WhereView {
  const own = found.filter(({ contains }) => contains.by !== 'ancestor').map(({ contains }) => contains);
  const revisions = listCandidates(question, own);
  const isAmbiguous = revisions.length > 1;
  const candidates = (isAmbiguous ? revisions : []).slice(0, WHERE_LIMITS.candidates.max).map((revision) => ({
    revision,
    release: found.find(({ contains }) => contains.revision === revision)?.id ?? '',
  }));
  const revision = isAmbiguous || found.length === 0 ? null : (revisions[0] ?? question.text);
  return { kind: 'where', asked: question.text, revision, candidates, releases: [], ...counts, searched };
}

/** All releases of a pipeline together, in their order; the pipeline of the first comes first. */
export const groupByPipeline = (releases: readonly WhereRelease[]): readonly WhereRelease[] =>
  groupBy(releases, ({ pipeline }) => pipeline).flatMap(([, rows]) => rows);
