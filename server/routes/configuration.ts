import { Hono, type Context } from 'hono';
import type { z } from 'zod';
import { requireProposer } from '../../client/about';
import { withAuditEntry } from '../../client/audited';
import type { ChangeRequest, RequestResult } from '../../config/repository/requests';
import { conveyorError } from '../../domain/errors';
import { over } from '../../domain/excess';
import { CONFIG_LIMITS } from '../../domain/limits';
import { withMember } from '../../domain/principals';
import { plural } from '../../domain/text';
import { authenticate, type Caller, type CallerDeps } from '../auth';
import type { Bodies } from '../bodies';
import { parseJsonBody, parseQuery, readBytes, rejectInvalidInput } from '../body';
import * as schemas from '../configSchemas';
import type { Configuration } from '../configuration';
import type { ServerDeps } from '../deps';
import { requestKey } from './pipelines';

type ConfigurationRouteDeps = CallerDeps &
  Pick<ServerDeps, 'audit'> & { readonly configuration: Configuration; readonly bodies: Bodies };

/** `/v1/config`: repositories of configuration. Everybody may look; owners propose. Answers are those of `-o json`. */
export function configurationRoutes(deps: ConfigurationRouteDeps): Hono {
  const { configuration, config } = deps;
  const app = new Hono();
  app.get('/', (c) => c.json(config.configRepositories.map(({ name, branch }) => ({ name, branch }))));
  app.get('/:repository/changes', async (c) =>
    c.json(await configuration.changes(repositoryParam(c), parseQuery(c, schemas.rowsQuery).limit)),
  );
  app.get('/:repository/changes/:n', async (c) =>
    c.json(await configuration.change(repositoryParam(c), changeNumber(c))),
  );
  app.get('/:repository/log', async (c) =>
    c.json(await configuration.log(repositoryParam(c), parseQuery(c, schemas.rowsQuery).limit)),
  );
  app.get('/:repository/value', async (c) => {
    const { path, change = null } = parseQuery(c, schemas.valueQuery);
    return c.json(await configuration.value(repositoryParam(c), path, change));
  });
  app.get('/:repository/sources', async (c) =>
    c.json(await configuration.sources(repositoryParam(c), parseQuery(c, schemas.sourcesQuery).base ?? null)),
  );
  app.get('/:repository/why', async (c) =>
    c.json(await configuration.why(repositoryParam(c), parseQuery(c, schemas.whyQuery).path)),
  );
  app.get('/:repository/subscriber', async (c) =>
    c.json(await configuration.host(repositoryParam(c), parseQuery(c, schemas.hostQuery))),
  );
  app.post('/:repository/changes', (c) => proposeChange(c, deps));
  app.post('/:repository/diff', (c) => compareSources(c, deps));
  return app;
}

async function proposeChange(c: Context, deps: ConfigurationRouteDeps): Promise<Response> {
  const caller = await authenticate(c, deps);
  const repository = repositoryParam(c);
  const made = await deps.bodies.run(
    (reading) => readBytes(c, { ...reading, maxBytes: CONFIG_LIMITS.request.max }),
    async (bytes) => {
      const { idempotencyKey, ...given } = parseJsonBody(Buffer.from(bytes).toString('utf8'), schemas.proposalRequest);
      const key = requestKey(c, idempotencyKey);
      const request = toChangeRequest(given);
      return runAudited(deps, caller, { repository, message: request.message }, () =>
        deps.configuration.propose(repository, request, { author: caller.principal, key }),
      );
    },
  );
  const { change, version, base, paths, deleted, duplicate } = made;
  c.header('location', `/v1/config/${repository}/changes/${change}`);
  return c.json({ repository, change, version, base, paths, deleted, duplicate }, 201);
}

/** For those who may propose: it runs their programs. */
async function compareSources(c: Context, deps: ConfigurationRouteDeps): Promise<Response> {
  const caller = await authenticate(c, deps);
  const repository = repositoryParam(c);
  requireProposer(
    gatherFacts(deps, caller),
    { principal: caller.principal, door: 'api' },
    deps.configuration.settings(repository),
  );
  return deps.bodies.run(
    (reading) => readBytes(c, { ...reading, maxBytes: CONFIG_LIMITS.request.max }),
    async (bytes) => {
      const { files, base = null } = parseJsonBody(Buffer.from(bytes).toString('utf8'), schemas.diffRequest);
      rejectInvalidInput(over(CONFIG_LIMITS.files, Object.keys(files).length));
      return c.json(await deps.configuration.diff(repository, { files, base }));
    },
  );
}

const gatherFacts = ({ config }: Pick<ConfigurationRouteDeps, 'config'>, { principal, groups }: Caller) => ({
  policy: config.policy,
  groups: withMember(config.groups, principal, groups),
});

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
  deps: ConfigurationRouteDeps,
  caller: Caller,
  { repository, message }: { readonly repository: string; readonly message: string },
  run: () => Promise<RequestResult>,
): Promise<RequestResult> {
  const { audit, configuration } = deps;
  const { principal: actor } = caller;
  let permitted: string | null = null;
  const permittedRun = (): Promise<RequestResult> => {
    permitted = requireProposer(
      gatherFacts(deps, caller),
      { principal: actor, door: 'api' },
      configuration.settings(repository),
    );
    return run();
  };
  if (audit === undefined) return permittedRun();
  const about = { actor, operation: 'propose', target: `config/${repository}`, reason: message } as const;
  return withAuditEntry(audit, () => ({ ...about, door: 'api', permitted }), permittedRun, resultEntry);
}

const resultEntry = ({ version, paths, duplicate }: RequestResult) => ({
  result: duplicate ? `${version}, which there was already` : `${version}, ${plural(paths.length, 'value')}`,
});

const repositoryParam = (c: Context): string => c.req.param('repository') ?? '';

function changeNumber(c: Context): number {
  const text = c.req.param('n') ?? '';
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw conveyorError('invalid-id', { text, expected: 'the number of a change' });
}
