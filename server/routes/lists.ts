import { CLIENT_OPERATIONS } from '../../client/operations';
import { lookRoute, type ApiRoute } from '../apiRoute';
import { offerListAnswer, offerQuery } from '../offerSchemas';
import * as schemas from '../schemas';

export const LIST_ROUTES: readonly ApiRoute[] = [
  lookRoute(CLIENT_OPERATIONS.listFinders.route, {
    summary: 'Whether the finders answer, as `conveyor list finders` shows it',
    answer: schemas.findersAnswer,
    run: ({ client }) => client.listFinders(),
  }),
  lookRoute(CLIENT_OPERATIONS.listOffers.route, {
    summary: 'The offers of all pipelines, as `conveyor offers list` shows them',
    ...{ answer: offerListAnswer, query: offerQuery },
    run: ({ client, query }) => client.listOffers(query()),
  }),
  lookRoute(CLIENT_OPERATIONS.listDeploys.route, {
    summary: 'Deploys, as `conveyor list deploys` shows them',
    ...{ answer: schemas.deploysAnswer, query: schemas.listQuery },
    run: ({ client, query }) => client.listDeploys(query()),
  }),
];
