import { answerInTime } from '../../client/inTime';
import { CLIENT_OPERATIONS } from '../../client/operations';
import { ConveyorError } from '../../domain/errors';
import { REQUEST_LIMITS, WHERE_LIMITS } from '../../domain/limits';
import { answerWhere, countReleases, groupByPipeline } from '../../domain/where/answer';
import { findArchivedText, toArchivedWhere } from '../../domain/where/archived';
import { parseQuestion } from '../../domain/where/revision';
import type { WhereQuery, WhereSearched, WhereView } from '../../domain/where/view';
import { lookRoute, type ApiDeps, type ApiRoute } from '../apiRoute';
import type { FrontClient } from '../deps';
import { whereAnswer, whereQuery } from '../whereSchemas';

export const WHERE_ROUTE: ApiRoute = lookRoute(CLIENT_OPERATIONS.where.route, {
  summary: 'The releases that contain a revision, and how far each is, as `conveyor where` shows it',
  ...{ answer: whereAnswer, query: whereQuery },
  run: ({ client, deps, query }) => findWhere(client, deps, query()),
});

/** A repository that takes longer is not waited for. */
const REPOSITORY_MS = 2_000;

/** Releases may contain a commit although they were made from a newer one, which only its repository knows. */
export async function findWhere(
  client: FrontClient,
  deps: ApiDeps,
  { revision, limit }: WhereQuery,
): Promise<WhereView> {
  const { hex } = parseQuestion(revision);
  const [alone, asked] = await Promise.all([
    client.where({ revision, limit }),
    hex === null ? [] : askRepositories(deps, hex),
  ]);
  const newer = asked.flatMap(({ revisions }) => revisions);
  const isDecided = newer.length === 0 || alone.candidates.length > 0;
  const found = isDecided ? alone : await client.where({ revision, limit, newer });
  const repositories = asked.map(({ name, problem }) => ({ name, problem }));
  const searched = { ...found.searched, repositories };
  return found.total > 0 ? { ...found, searched } : searchArchive(deps, { ...found, searched }, limit);
}

/** An archive that takes longer is not waited for. */
const ARCHIVE_MS = 5_000;

/** Asked only about revisions that Temporal does not know, because it reads the artifacts of every release. */
async function searchArchive({ archive }: ApiDeps, nowhere: WhereView, limit: number): Promise<WhereView> {
  if (archive === undefined) return nowhere;
  const question = parseQuestion(nowhere.asked);
  let problem: string | null = 'it does not answer';
  const look = archive.findReleases(findArchivedText(question), REQUEST_LIMITS.rows.max).catch((error: unknown) => {
    problem = describeFailure(error);
    return undefined;
  });
  const rows = await answerInTime(look, ARCHIVE_MS);
  const found = rows?.flatMap((row) => toArchivedWhere(question, row) ?? []) ?? [];
  const searched = { ...nowhere.searched, archive: { problem: rows === undefined ? problem : null } };
  const answer = answerWhere(question, found, countReleases(found), searched);
  return answer.candidates.length > 0 ? answer : { ...answer, releases: groupByPipeline(found.slice(0, limit)) };
}

type WhereRequest = WhereSearched['repositories'][number] & { readonly revisions: readonly string[] };

function askRepositories({ config, configuration }: ApiDeps, commit: string): Promise<readonly WhereRequest[]> {
  return Promise.all(
    config.configRepositories.map(async ({ name }): Promise<WhereRequest> => {
      const look = configuration
        .revisionsWith(name, commit, WHERE_LIMITS.newer.max)
        .then((revisions) => ({ name, problem: null, revisions: revisions ?? [] }))
        .catch((error: unknown) => ({ name, problem: describeFailure(error), revisions: [] }));
      return (await answerInTime(look, REPOSITORY_MS)) ?? { name, problem: 'it does not answer', revisions: [] };
    }),
  );
}

const describeFailure = (error: unknown): string =>
  error instanceof ConveyorError ? error.message : 'it could not be read';
