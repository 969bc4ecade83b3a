import { CLIENT_OPERATIONS } from '../../client/operations';
import { conveyorError } from '../../domain/errors';
import { unfitCommand } from '../../domain/excess';
import { lookRoute, startRoute, type ApiRoute } from '../apiRoute';
import { rejectInvalidInput } from '../body';
import { statusOrLastKnown } from '../lastKnown';
import { releaseParam, requestKey } from '../requests';
import * as schemas from '../schemas';
import { commandRoute } from './commands';

const { command, rerun, status, listReleases, logs } = CLIENT_OPERATIONS;

/** `/v1/releases`; `/v1/releases/<pipeline>/<n>` and, with `/<action>`, its deploys: their status, and commands to them. */
export const RELEASE_ROUTES: readonly ApiRoute[] = [
  lookRoute(listReleases.route, {
    summary: 'Releases, as `conveyor list releases` shows them',
    ...{ answer: schemas.releasesAnswer, query: schemas.listQuery },
    run: ({ client, query }) => client.listReleases(query()),
  }),
  lookRoute(status.route.release, {
    summary: 'The status of a release',
    ...{ answer: schemas.releaseAnswer, query: schemas.liveQuery },
    run: ({ c, client }) => statusOrLastKnown(c, client, releaseParam(c).text),
  }),
  lookRoute(status.route.action, {
    summary: 'The status of a deploy',
    ...{ answer: schemas.deployAnswer, query: schemas.liveQuery },
    run: ({ c, client }) => statusOrLastKnown(c, client, releaseParam(c).text),
  }),
  lookRoute(logs.route, {
    summary: 'The output of an action',
    ...{ answer: schemas.logsAnswer, query: schemas.logsQuery },
    run: ({ c, client, query }) => client.logs(releaseParam(c).text, query().attempt),
  }),
  startRoute(rerun.route, {
    summary: 'Reruns the failed part of an ended release as a new release; actions that succeeded are carried over',
    ...{ request: schemas.rerunRequest, answer: schemas.startedAnswer },
    run: async ({ c, deps, client, actor, body }) => {
      const { reason, trigger: kind, idempotencyKey } = await body();
      const id = releaseParam(c);
      if (id.kind !== 'release') throw conveyorError('not-found', { what: 'release' });
      const given = { actor, kind, reason, key: requestKey(c, idempotencyKey) } as const;
      rejectInvalidInput(unfitCommand({ actor, ...(reason === undefined ? {} : { reason }) }));
      return deps.turns.run(id.pipeline, () => client.rerun(id.pipeline, id.number, given));
    },
  }),
  commandRoute(
    command.route.release,
    'a release, or to its only running deploy',
    schemas.releaseVerb.options,
    (c) => releaseParam(c).text,
  ),
  commandRoute(
    command.route.action,
    'a deploy, or to another action of a release',
    schemas.releaseVerb.options,
    (c) => releaseParam(c).text,
  ),
];
