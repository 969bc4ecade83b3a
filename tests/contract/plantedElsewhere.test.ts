import { viaApp } from '../../sdk/client';
import { DATA_SOURCE_CHECKS } from '../../sdk/conform/dataSource';
import { DEPENDENCY_GRAPH_CHECKS } from '../../sdk/conform/dependencyGraph';
import { TASK_CONTROLLER_CHECKS } from '../../sdk/conform/taskController';
import { TICKET_CHECKS } from '../../sdk/conform/tickets';
import { dataSourceProtocol } from '../../sdk/protocol/dataSource';
import { dependencyGraphProtocol } from '../../sdk/protocol/dependencyGraph';
import { taskControllerProtocol } from '../../sdk/protocol/taskController';
import { ticketProtocol } from '../../sdk/protocol/tickets';
import { PROTOCOLS } from '../../sdk/protocol/protocols';
import { serveTaskController } from '../../sdk/server';
import { givenFleet } from '../builders/simulatorFleet';
import {
  each,
  listFailures,
  listPlants,
  literally,
  lying,
  put,
  rulesBroken,
  rulesOf,
  twice,
  type Lie,
  type PlantsByKind,
} from './planting';

/** As `planted.test.ts`, for the other protocols. */
const ALL: PlantsByKind = {
  'data source': {
    protocol: dataSourceProtocol,
    plants: {
      query: {
        'a task twice': [twice('series'), 'series.1.labels.task: kvstore-x/1/1 appears twice'],
        'a task that was not asked for': [
          each('series', { labels: { task: 'other' } }),
          'series.0.labels.task: other was not asked for',
        ],
      },
    },
  },
  'dependency graph': {
    protocol: dependencyGraphProtocol,
    plants: {
      getDependents: {
        'a row twice': [twice('affected'), 'affected.1.target: //kv:server at 10 appears twice'],
        'a row that was not asked for': [
          each('affected', { target: '//x' }),
          'affected.0.target: //x at 10 was not asked for',
        ],
        // The suite first asks for as much as the schema allows.
        'what is too deep': [
          (answer, asked) =>
            asked['depth'] === 1
              ? each('affected', { depth: 2, path: ['//kv:server', '//lib', '//lib:rpc'] })(answer, asked)
              : answer,
          'affected.0.depth: 2 is more than the 1 asked for',
        ],
        'a path that is no chain': [
          each('affected', { path: ['//x'] }),
          'affected.0.path: it does not lead from //kv:server to //lib:rpc in 1 steps: //x',
        ],
      },
    },
  },
  'task controller': {
    protocol: taskControllerProtocol,
    plants: {
      process: {
        'an id twice': [(answer) => ({ ack: [...(answer['ack'] as string[]), ...(answer['ack'] as string[])] }), 'ack.1: suite kv/0 appears twice'], // prettier-ignore
        'an id that was not asked for': [() => ({ ack: ['other'] }), 'ack.0: other was not asked for'],
      },
    },
  },
  // Neither a name nor a state contradicts a question: the suite compares answers with each other.
  'service of tickets': { protocol: ticketProtocol, plants: {} },
};

test('each protocol is one of those of planted.test.ts, or has its rules broken here', () => {
  const here = new Set(Object.values(ALL).map(({ protocol }) => protocol));
  const elsewhere = Object.entries(PROTOCOLS).filter(([, { protocol }]) => !here.has(protocol));
  expect(elsewhere.map(([kind]) => kind)).toEqual(['push-type', 'action-service', 'artifact-finder']);
});

test.each(Object.entries(ALL))(
  'each rule by which an answer of a %s contradicts itself is broken here',
  (_, { protocol, plants }) => {
    expect(rulesBroken(plants).toSorted()).toEqual(rulesOf(protocol).toSorted());
  },
);

test.each(listPlants(ALL))(
  'the author of a %s that answers %s with %s learns of it',
  async (kind, method, _, [lie, told]) => {
    const reasons = await failures(kind, method, lie);
    expect(reasons.join('\n')).toContain(`the service answered ${method} in violation of its protocol: ${told}`);
  },
);

test.each<[string, string, string, unknown, string]>([
  ['data source', 'query', 'series.0.points.0.1', literally('1e999'), 'received Infinity (it is Infinity)'],
  ['data source', 'query', 'series.0.points.0.1', '0.5', 'expected number, received string (it is "0.5")'],
  ['data source', 'query', 'series.0.labels', undefined, '(it is missing)'],
  ['dependency graph', 'getDependents', 'affected.0.depth', -1, '(it is -1)'],
  ['dependency graph', 'getDependents', 'affected.0.depth', 0.5, '(it is 0.5)'],
  ['dependency graph', 'getDependents', 'affected.0.depth', 2 ** 53, '(it is 9007199254740992)'],
  ['dependency graph', 'getDependents', 'affected.0.depth', literally('1e999'), '(it is Infinity)'],
  ['dependency graph', 'getDependents', 'affected.0.path', undefined, '(it is missing)'],
  ['task controller', 'process', 'ack.0', 7, 'expected string, received number (it is 7)'],
  ['task controller', 'process', 'ack', undefined, '(it is missing)'],
  ['service of tickets', 'openTicket', 'ticket', '', '(it is "")'],
  ['service of tickets', 'openTicket', 'ticket', 7, '(it is 7)'],
  ['service of tickets', 'openTicket', 'ticket', undefined, '(it is missing)'],
  ['service of tickets', 'updateTicket', 'state', 'ajar', '(it is "ajar")'],
])('the author of a %s whose %s has another %s, %s, learns: %s', async (kind, method, field, value, told) => {
  const reasons = await failures(kind, method, put(field, value));
  const reason = reasons.find((each) => each.includes(told)) ?? reasons[0];
  expect(reason).toContain(`the service answered ${method} in violation of its protocol: ${field}: `);
  expect(reason).toContain(told);
});

test.each([
  ['data source', 'query', 'series.0.points.0.1'],
  ['dependency graph', 'getDependents', 'affected.0.depth'],
])('the author of a %s whose %s has NaN as %s sees it', async (kind, method, field) => {
  const reasons = await failures(kind, method, put(field, literally('NaN')));
  expect(reasons.join('\n')).toMatch(
    new RegExp(`the service answered ${method} in violation of its protocol: body: not JSON: .*NaN`),
  );
});

/** Why checks failed, of a service that answers a method with a lie. */
async function failures(kind: string, method: string, lie: Lie): Promise<string[]> {
  if (kind === 'task controller') {
    const app = serveTaskController('one', {
      process: ({ request }) => ({ ack: request.slice(0, 1).map(({ id }) => id) }),
    });
    const subject = { fetch: lying(viaApp(app), method, lie), url: 'http://s', job: 'kv', tasks: ['kv/0', 'kv/1'] };
    return listFailures(TASK_CONTROLLER_CHECKS, { ...subject, ops: 'suite' });
  }
  const fleet = givenFleet();
  const fetch = lying(viaApp(fleet.app), method, lie);
  if (kind === 'service of tickets')
    return listFailures(TICKET_CHECKS, { fetch, url: 'http://s/tickets', assignee: 'group:storage', keys: 'suite' });
  if (kind === 'dependency graph') {
    for (const [target, ...deps] of [['//kv:server', '//lib:rpc'], ['//lib:rpc']])
      await fleet.control('POST', '/targets', { target, deps });
    const asked = { target: '//lib:rpc', dependent: '//kv:server', revisions: ['9', '10', '11'] as const };
    return listFailures(DEPENDENCY_GRAPH_CHECKS, { ...asked, fetch, url: 'http://s/dependency-graph' });
  }
  await fleet.job('kvstore-x');
  const start = fleet.now();
  fleet.pass(600_000);
  const asked = { metric: 'system.cpu', unit: 'kvstore-x', tasks: ['kvstore-x/1/1', 'kvstore-x/2/1'] as const };
  return listFailures(DATA_SOURCE_CHECKS, {
    ...asked,
    ...{ fetch, url: 'http://s/data-source', window: { start, end: fleet.now() } },
  });
}
