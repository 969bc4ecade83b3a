import { createHttpClient } from '../../client/http/client';
import { CLIENT_OPERATIONS } from '../../client/operations';
import { CONFIG_OPERATIONS } from '../../client/operations/configuration';
import { SERVER_QUESTIONS } from '../../client/operations/questions';
import { API_ROUTES } from '../../server/routes';
import { ACCESS, appOf, TOKEN } from '../builders/serverWorld';
import { CASES, describeConveyorClient, OPERATIONS_TRIED, type Behind } from './conveyorClient';

/** A server in this process, over what stands behind it. */
const serverOver = (behind: Behind): typeof fetch => {
  const app = appOf(undefined, { client: behind.client, access: ACCESS, reads: 'authenticated' });
  return (input, init) => Promise.resolve(app.request(input as string, init));
};

describeConveyorClient('what stands behind', ({ client }) => client, { checksIds: false });
describeConveyorClient(
  'the server and its client',
  (behind) => createHttpClient({ url: 'http://localhost:4500', token: TOKEN, fetch: serverOver(behind) }),
  { checksIds: true },
);

const routes = [CLIENT_OPERATIONS, CONFIG_OPERATIONS, SERVER_QUESTIONS]
  .flatMap((rows) => Object.values(rows).map(({ route }) => route))
  .flatMap((route): readonly string[] => (typeof route === 'string' ? [route] : Object.values(route)));

test('every operation is tried, and has a route that the server describes', () => {
  expect([...new Set(CASES.map(({ operation }) => operation))].sort()).toEqual([...OPERATIONS_TRIED].sort());
  const described = new Set<string>(API_ROUTES.map(({ route }) => route));
  expect(routes.filter((route) => !described.has(route))).toEqual([]);
  // Other routes of the server are not for clients.
  const used = new Set(routes);
  expect([...described].filter((route) => !used.has(route))).toEqual([
    'POST /v1/webhooks/github',
    'POST /v1/webhooks/standard',
    'POST /v1/webhooks/pagerduty',
    'POST /v1/webhooks/opsgenie',
    'POST /v1/webhooks/slack',
    'POST /v1/runs/{run}/ended',
    // Programs want one bug; people see all.
    'GET /v1/bugs/{n}',
  ]);
});
