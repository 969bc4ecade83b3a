import { createHttpClient } from '../../client/http/client';
import { CLIENT_OPERATIONS } from '../../client/operations';
import { CONFIG_OPERATIONS } from '../../client/operations/configuration';
import { SERVER_QUESTIONS } from '../../client/operations/questions';
import { HTTP_OPERATIONS } from '../../server/operations';
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
  const shapeOf = (route: string): string => route.replace(/\{\w+\}/g, '{}');
  const described = new Set(HTTP_OPERATIONS.map(({ method, path }) => shapeOf(`${method.toUpperCase()} ${path}`)));
  expect(routes.filter((route) => !described.has(shapeOf(route)))).toEqual([]);
  // What the server takes besides is for those who are no clients.
  const used = new Set(routes.map(shapeOf));
  expect([...described].filter((route) => !used.has(route))).toEqual([
    'POST /v1/webhooks/github',
    'POST /v1/webhooks/standard',
    // Programs that propose want to know whether their one has landed.
    'GET /v1/config/{}/changes/{}',
    'POST /v1/runs/{}/ended',
    // Programs want one bug; people see all.
    'GET /v1/bugs/{}',
  ]);
});
