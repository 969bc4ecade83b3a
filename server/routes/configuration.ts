import type { Context } from 'hono';
import type { z } from 'zod';
import { requireProposer } from '../../client/about';
import { withAuditEntry } from '../../client/auditClient';
import { CONFIG_OPERATIONS } from '../../client/operations/configuration';
import { SERVER_QUESTIONS } from '../../client/operations/questions';
import type { ChangeRequest, RequestResult } from '../../configerator/repository/requests';
import { pathRights } from '../../domain/access/paths';
import { conveyorError } from '../../domain/errors';
import { over } from '../../domain/excess';
import { CONFIG_LIMITS } from '../../domain/limits';
import { withMember } from '../../domain/principals';
import { plural } from '../../domain/text';
import { callerRoute, lookRoute, REFUSED, type ApiRoute, type CallerCall } from '../apiRoute';
import { parseJsonBody, readBytes, rejectInvalidInput } from '../body';
import * as schemas from '../configSchemas';
import { requestKey } from '../requests';

const NOT_AN_OWNER = {
  403: 'Not an owner of the repository',
  404: REFUSED[404],
  413: 'Larger than docs/reference/limits.md allows',
};

/**
 * `/v1/config`: repositories of configuration. All readers may look; owners propose. Answers are those of `-o json`.
 */
export const CONFIG_ROUTES: readonly ApiRoute[] = [
  lookRoute(SERVER_QUESTIONS.configRepositories.route, {
    summary: 'Repositories of configuration',
    answer: schemas.repositoriesAnswer,
    run: ({ deps }) => deps.config.configRepositories.map(({ name, branch }) => ({ name, branch })),
  }),
  callerRoute(CONFIG_OPERATIONS.propose.route, {
    summary: 'Proposes a change of values, or of sources; it reaches no host until it is released',
    ...{ status: 201, request: schemas.proposalRequest, answer: schemas.proposalAnswer },
    headers: [['Idempotency-Key', false, 'Repeating a key returns the same change.']],
    also: {
      ...NOT_AN_OWNER,
      409: 'Nothing would change, a file was changed since the base, or the key was used for another request',
      422: 'A program, a schema or an invariant of the owner of a schema refuses it',
      503: 'The repository does not answer; retry after Retry-After',
    },
    run: proposeChange,
    location: ({ repository, change }) => `/v1/config/${repository}/changes/${change}`,
  }),
  callerRoute(CONFIG_OPERATIONS.diff.route, {
    summary: 'Which values other sources would change, as `conveyor config diff` shows it; changes nothing',
    ...{ request: schemas.diffRequest, answer: schemas.diffAnswer, also: NOT_AN_OWNER },
    run: compareSources,
  }),
  lookRoute(CONFIG_OPERATIONS.changes.route, {
    summary: 'Changes, newest first, as `conveyor config status` shows them',
    ...{ answer: schemas.changesAnswer, query: schemas.rowsQuery },
    run: ({ c, deps: { configuration }, query }) => configuration.changes(repositoryParam(c), query().limit),
  }),
  lookRoute(CONFIG_OPERATIONS.change.route, {
    summary: 'One change, and whether it has landed',
    answer: schemas.changeAnswer,
    run: ({ c, deps: { configuration } }) => configuration.change(repositoryParam(c), changeNumber(c)),
  }),
  lookRoute(CONFIG_OPERATIONS.log.route, {
    summary: 'Landed changes, newest first, as `conveyor config log` shows it',
    ...{ answer: schemas.landedAnswer, query: schemas.rowsQuery },
    run: ({ c, deps: { configuration }, query }) => configuration.log(repositoryParam(c), query().limit),
  }),
  lookRoute(CONFIG_OPERATIONS.value.route, {
    summary: 'A value, as `conveyor config show` shows it',
    ...{ answer: schemas.valueAnswer, query: schemas.valueQuery },
    run: ({ c, deps: { configuration }, query }) => {
      const { path, change = null } = query();
      return configuration.value(repositoryParam(c), path, change);
    },
  }),
  lookRoute(CONFIG_OPERATIONS.sources.route, {
    summary: 'The sources of a commit, from which a client finds what differs',
    ...{ answer: schemas.sourcesAnswer, query: schemas.sourcesQuery },
    run: ({ c, deps: { configuration }, query }) => configuration.sources(repositoryParam(c), query().base ?? null),
  }),
  lookRoute(CONFIG_OPERATIONS.why.route, {
    summary:
      'Where a value comes from or what a file contributes to, and who subscribes, as `conveyor config why` shows it',
    ...{ answer: schemas.whyAnswer, query: schemas.whyQuery },
    run: ({ c, deps: { configuration }, query }) => configuration.why(repositoryParam(c), query().path),
  }),
  lookRoute(CONFIG_OPERATIONS.host.route, {
    summary: 'The version of a value on a host, as `conveyor config show --host` shows it',
    ...{ answer: schemas.hostAnswer, query: schemas.hostQuery },
    run: ({ c, deps: { configuration }, query }) => configuration.host(repositoryParam(c), query()),
  }),
];

async function proposeChange(call: CallerCall) {
  const { c, deps, actor } = call;
  const repository = repositoryParam(c);
  const made = await withBody(call, schemas.proposalRequest, async ({ idempotencyKey, ...given }) => {
    const key = requestKey(c, idempotencyKey);
    const request = toChangeRequest(given);
    return runAudited(call, { repository, message: request.message }, () =>
      deps.configuration.propose(repository, request, { author: actor, key, ...proposalRights(call, repository) }),
    );
  });
  const { change, version, base, paths, deleted, duplicate } = made;
  return { repository, change, version, base, paths, deleted, duplicate };
}

/** Only for callers who may propose, because it runs their programs. */
async function compareSources(call: CallerCall) {
  const repository = repositoryParam(call.c);
  permitProposal(call, repository);
  return withBody(call, schemas.diffRequest, async ({ files, base = null }) => {
    rejectInvalidInput(over(CONFIG_LIMITS.files, Object.keys(files).length));
    return call.deps.configuration.diff(repository, { files, base });
  });
}

/** Sources are larger than other bodies, so their total size is limited until they are used. */
const withBody = <S extends z.ZodType, T>(
  { c, deps }: CallerCall,
  schema: S,
  use: (body: z.output<S>) => Promise<T>,
): Promise<T> =>
  deps.configBodies.run(
    (reading) => readBytes(c, { ...reading, maxBytes: CONFIG_LIMITS.request.max }),
    async (bytes) => use(parseJsonBody(Buffer.from(bytes).toString('utf8'), schema)),
  );

/** @throws ConveyorError `not-permitted`, `not-found` @returns the rule that allows it */
const permitProposal = ({ deps, actor, caller }: CallerCall, repository: string): string =>
  requireProposer(
    { policy: deps.config.policy, groups: withMember(deps.config.groups, actor, caller.groups) },
    { principal: actor, door: 'api' },
    deps.configuration.settings(repository),
  );

/** The rights of an author by path, and those of their groups that a worker cannot know, since it asks no identity provider. */
function proposalRights({ deps: { config, configuration }, actor, caller }: CallerCall, name: string) {
  const repository = configuration.settings(name);
  if (repository.paths === undefined) return { rights: null, groups: [] };
  const { owners = [], paths } = repository;
  const named = new Set([...owners, ...(config.policy?.admins ?? []), ...paths.flatMap(({ by }) => by)]);
  const groups = caller.groups.filter((group) => named.has(`group:${group}`));
  const facts = { policy: config.policy, groups: withMember(config.groups, actor, groups) };
  return { rights: pathRights(facts, repository, actor), groups };
}

/** Rejects a request before any work starts. @throws ConveyorError `over-limit` */
function toChangeRequest({
  message,
  values,
  files,
  base: given,
}: Omit<z.output<typeof schemas.proposalRequest>, 'idempotencyKey'>): ChangeRequest {
  const base = given ?? null;
  rejectInvalidInput(
    over(CONFIG_LIMITS.message, Buffer.byteLength(message)) ??
      over(CONFIG_LIMITS.values, Object.keys(values ?? {}).length) ??
      over(CONFIG_LIMITS.files, Object.keys(files ?? {}).length),
  );
  return values === undefined ? { message, base, files: files ?? {} } : { message, base, values };
}

/** Authorizes and audits a change with its result. @throws ConveyorError `not-permitted`, `audit-unwritable`, and errors of `run` */
function runAudited(
  call: CallerCall,
  { repository, message }: { readonly repository: string; readonly message: string },
  run: () => Promise<RequestResult>,
): Promise<RequestResult> {
  const { audit } = call.deps;
  let permitted: string | null = null;
  const permittedRun = (): Promise<RequestResult> => {
    permitted = permitProposal(call, repository);
    return run();
  };
  if (audit === undefined) return permittedRun();
  const about = { actor: call.actor, operation: 'propose', target: `config/${repository}`, reason: message } as const;
  return withAuditEntry(audit, () => ({ ...about, door: 'api', permitted }), permittedRun, resultEntry);
}

const resultEntry = ({ version, paths, duplicate }: RequestResult) => ({
  result: duplicate ? `${version}, which already existed` : `${version}, ${plural(paths.length, 'value')}`,
});

const repositoryParam = (c: Context): string => c.req.param('repository') ?? '';

function changeNumber(c: Context): number {
  const text = c.req.param('n') ?? '';
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw conveyorError('invalid-id', { text, expected: 'the number of a change' });
}
