import { CLIENT_OPERATIONS } from '../../client/operations';
import { lookRoute, type ApiRoute } from '../apiRoute';
import * as schemas from '../schemas';

export const LIST_ROUTES: readonly ApiRoute[] = [
  lookRoute(CLIENT_OPERATIONS.listFinders.route, {
    summary: 'Whether the finders answer, as `conveyor list finders` shows it',
    answer: schemas.findersAnswer,
    run: ({ client }) => client.listFinders(),
  }),
  lookRoute(CLIENT_OPERATIONS.listDeploys.route, {
    summary: 'Deploys, as `conveyor list deploys` shows them',
    ...{ answer: schemas.deploysAnswer, query: schemas.listQuery },
    run: ({ client, query }) => client.listDeploys(query()),
  }),
];
