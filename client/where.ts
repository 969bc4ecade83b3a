import { WHERE_LIMITS } from '../domain/limits';
import type { ReleaseSummary } from '../domain/views';
import {
  answerWhere,
  countReleases,
  groupByPipeline,
  type CountedRelease,
  type WhereCounts,
} from '../domain/where/answer';
import { findMatch, parseQuestion, type RevisionQuestion } from '../domain/where/revision';
import type { WhereQuery, WhereRelease, WhereView } from '../domain/where/view';
import { fetchOrigin } from './endings';
import { readVisibility, toReleaseSummary } from './lists';
import { describeReleases, type FoundRelease } from './whereDetails';
import type { Workflows } from './workflows';

/**
 * The releases that contain a revision, from visibility; the workflows of some are asked how far they are. Changes of the last second may be
 * missing, and releases that wait in the queue of their pipeline are not listed. @throws ConveyorError `usage` for a text that is no revision
 */
export async function findRevision(workflows: Workflows, query: WhereQuery): Promise<WhereView> {
  const question = parseQuestion(query.revision);
  const [listed, retentionMs] = await readVisibility(workflows, 'release', () =>
    Promise.all([searchListed(workflows, question, query), fetchRetention(workflows)]),
  );
  const older = listed.found.length > 0 ? null : await searchOlder(workflows, question, query.limit);
  const found = older?.found ?? listed.found;
  const searched = {
    retentionMs,
    older: older && { count: older.count, read: older.read },
    archive: null,
    repositories: [],
  };
  const counted = found.map(toCounted);
  const answer = answerWhere(question, counted, older === null ? listed.counts : countReleases(counted), searched);
  if (answer.candidates.length > 0) return answer;
  return { ...answer, releases: groupByPipeline(await describeReleases(workflows, found.slice(0, query.limit))) };
}

const toCounted = ({ release: { id, state, endedAt }, contains }: FoundRelease): CountedRelease => ({
  ...{ id, state, endedAt, contains },
});

interface Listed {
  readonly found: readonly FoundRelease[];
  readonly counts: WhereCounts;
}

async function searchListed(workflows: Workflows, question: RevisionQuestion, query: WhereQuery): Promise<Listed> {
  const newer = query.newer?.slice(0, WHERE_LIMITS.newer.max).map(parseQuestion) ?? [];
  const words = [...new Set([question, ...newer].flatMap((one) => one.words))].map((word) => `'${word}'`);
  const condition = `WorkflowType = 'release' AND ConveyorLabels IN (${words.join(', ')})`;
  const { client } = workflows.temporal;
  const most = Math.max(query.limit, LEAST_READ);
  const matches = (release: ReleaseSummary): WhereRelease['contains'] | undefined =>
    findMatch(question, release.artifacts) ?? findNewer(newer, release);
  const count = async (more: string): Promise<number> => (await client.workflow.count(`${condition}${more}`)).count;
  const [{ found, others }, total, underWay, succeeded] = await Promise.all([
    readMatches(workflows, condition, most, matches),
    count(''),
    count(` AND ExecutionStatus = 'Running'`),
    count(` AND ConveyorOutcome = 'succeeded'`),
  ]);
  // Releases of other revisions with the same first digits are rare: where one was seen, only those that were read count.
  const isCounted = others === 0 || found.length >= most;
  const counts = isCounted ? { total: total - others, underWay, succeeded } : countReleases(found.map(toCounted));
  return { found, counts };
}

/** So many show whether an abbreviation is ambiguous. */
const LEAST_READ = 200;

function findNewer(
  newer: readonly RevisionQuestion[],
  { artifacts }: ReleaseSummary,
): WhereRelease['contains'] | undefined {
  for (const question of newer) {
    const match = findMatch(question, artifacts);
    if (match !== undefined) return { ...match, by: 'ancestor' };
  }
  return undefined;
}

/** Newest first. @returns also the number of releases that were read and do not match */
async function readMatches(
  { temporal }: Workflows,
  query: string,
  limit: number,
  matches: (release: ReleaseSummary) => WhereRelease['contains'] | undefined,
): Promise<{ found: FoundRelease[]; others: number }> {
  const [found, seen]: [FoundRelease[], Set<string>] = [[], new Set()];
  let others = 0;
  for await (const info of temporal.client.workflow.list({ query, pageSize: Math.min(LIST_PAGE, limit + 1) })) {
    const release = toReleaseSummary(info);
    const contains = release && matches(release);
    if (release === undefined || contains === undefined) others += 1;
    else if (!seen.has(release.id)) found.push({ info, release, contains });
    seen.add(release?.id ?? '');
    if (found.length >= limit || found.length + others >= MOST_READ) break;
  }
  return { found, others };
}

/** The server's limit. */
const LIST_PAGE = 1_000;
/** Releases that are read to find those that match. */
const MOST_READ = 5_000;

/**
 * Releases that began on workers that did not label them. Undefined if that takes too long, because a store may have to look at every release.
 */
async function searchOlder(
  workflows: Workflows,
  question: RevisionQuestion,
  limit: number,
): Promise<{ readonly found: readonly FoundRelease[]; readonly count: number; readonly read: number } | null> {
  const query = `WorkflowType = 'release' AND ConveyorLabels IS NULL`;
  const { client } = workflows.temporal;
  let read = 0;
  const matches = (release: ReleaseSummary): WhereRelease['contains'] | undefined => {
    read += 1;
    return findMatch(question, release.artifacts);
  };
  try {
    return await client.withDeadline(Date.now() + OLDER_MS, async () => {
      const { count } = await client.workflow.count(query);
      if (count === 0) return { found: [], count, read };
      const newest = takeFirst(client.workflow.list({ query, pageSize: LIST_PAGE }), WHERE_LIMITS.older.max);
      const found: FoundRelease[] = [];
      for await (const info of newest) {
        const release = toReleaseSummary(info);
        const contains = release && matches(release);
        if (release !== undefined && contains !== undefined && found.length < limit)
          found.push({ info, release, contains });
      }
      return { found, count, read };
    });
  } catch {
    return null;
  }
}

const OLDER_MS = 2_000;

async function* takeFirst<T>(all: AsyncIterable<T>, most: number): AsyncGenerator<T> {
  let taken = 0;
  for await (const one of all) {
    yield one;
    taken += 1;
    if (taken >= most) return;
  }
}

/** Null if Temporal does not say, or keeps them for ever. */
async function fetchRetention({ temporal }: Workflows): Promise<number | null> {
  const { retentionMs } = await fetchOrigin(temporal).catch(() => ({ retentionMs: 0 }));
  return retentionMs === 0 ? null : retentionMs;
}
