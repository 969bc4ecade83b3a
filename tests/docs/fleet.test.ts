import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS } from '../../simulator/metrics/series';
import { createSimulator } from '../../simulator/app';
import { givenFleet, START, type TestFleet } from '../builders/simulatorFleet';

/** docs/reference/fleet.md is the reference of the control API: its table has every route, and says what each takes and answers. */
const PAGE = readFileSync(join(__dirname, '../../docs/reference/fleet.md'), 'utf8');
const ROWS = [...PAGE.matchAll(/^\| `([A-Z]+) (\/control\S+)` \|(.*)\|$/gm)].map(
  ([, method = '', path = '', rest = '']) => {
    const [body = '', answer = ''] = rest.split('|').map((cell) => cell.trim());
    return { method, path, body, answer };
  },
);

/** `{ a, b? }` in words: which keys are there, and which may be. */
const keysIn = (text: string): string[] =>
  [...(/\{([^{}]*)\}/.exec(text)?.[1] ?? '').matchAll(/(\w+)\??/g)].map(([key]) => key);
const required = (text: string): string[] => keysIn(text).filter((key) => !key.endsWith('?'));
const known = (text: string): string[] => keysIn(text).map((key) => key.replace('?', ''));
const JOB = /^A \*\*job\*\* is `(\{[^}]*\})`/m.exec(PAGE)?.[1] ?? '';

/** The full description of an answer on the page. */
function shapeOf({ answer, body }: (typeof ROWS)[number]): string {
  if (/\bjobs?$/.test(answer)) return JOB;
  return answer === 'the same' ? body : answer;
}

const JOB_X = { name: 'web-x', region: 'x', tasks: 6, version: 'web:1' };

/** A good request for each route that takes something. */
const REQUESTS: Readonly<Record<string, object>> = {
  'POST /control/jobs': { ...JOB_X, name: 'web-y', region: 'y' },
  'PATCH /control/jobs/:name': { tasks: 8 },
  'POST /control/jobs/:name/restart': { slots: [0] },
  'POST /control/versions': { version: 'web:2', behaviour: { errorRatio: 0.2 } },
  'POST /control/faults': { kind: 'region', id: 'x' },
  'POST /control/commits': { repository: 'web', branch: 'main', revision: 'a1', author: 'alice', message: 'x' },
  'POST /control/builds': { version: 'web:2', target: '//web:server', tag: 'live' },
  'POST /control/models': { model: 'ranking', version: '7' },
  'POST /control/configs': { path: 'web/limits', version: '3' },
  'POST /control/targets': { target: '//web:server', deps: ['//lib:rpc'] },
  'POST /control/monorepo': { targets: 20, seed: 3 },
  'POST /control/tickets/close': { ticket: 'OPS-1' },
  'POST /control/config/subscribers': { name: 'edge', region: 'eu', hosts: 4, paths: ['feed/limits'] },
  'POST /control/config/changes': { values: { 'feed/limits': { soft: 3 } } },
  'POST /control/config/commits': { values: { 'feed/limits': { soft: 3 } } },
  'POST /control/config/behaviours': {
    ...{ path: 'feed/limits', when: { field: 'soft', above: 2 }, version: 'web:2', behaviour: { errorRatio: 0.2 } },
  },
  'POST /control/config/faults': { kind: 'partition', id: 'x' },
  'POST /control/metrics': { points: [{ task: 'web-1@c1', metric: 'rpc.error_ratio', value: 0.1 }] },
  'POST /control/reset': { seed: 2, pace: { perMinute: 100, burst: 10 } },
};

/** The parameters of a route, if it has a query. */
const QUERIES: Readonly<Record<string, string>> = {
  '/metrics': '?job=web-x&metric=system.cpu',
  '/config/subscribers': '?path=feed/limits',
};

/** The world before each request: a job that reads configuration, a fault of the fleet and one of the tree to fix, a target, a ticket. */
async function given(): Promise<{ fleet: TestFleet; fault: string; treeFault: string; snapshot: string }> {
  const fleet = givenFleet();
  await fleet.control('POST', '/jobs', JOB_X);
  await fleet.control('POST', '/targets', { target: '//web:server' });
  await openTicket(fleet);
  const { id } = (await fleet.control('POST', '/faults', { kind: 'machine', id: 'x-m3' })) as { id: string };
  await fleet.control('POST', '/config/subscribers', { job: 'web-x', paths: ['feed/limits'] });
  const broken = (await fleet.control('POST', '/config/faults', { kind: 'observer', id: 'x-o1' })) as { id: string };
  const { snapshot } = (await fleet.control('GET', '/snapshot')) as { snapshot: string };
  return { fleet, fault: id, treeFault: broken.id, snapshot };
}

async function openTicket(fleet: TestFleet): Promise<void> {
  const context = { pipeline: 'web', release: 0, deployId: 'k', actor: 'service:conveyor', config: {} };
  const ticket = { key: 'k', pipeline: 'web', title: 't', body: 'b', assignees: ['group:web'], escalated: false };
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
  await fleet.app.request('/tickets/openTicket', {
    ...{ method: 'POST', headers, body: JSON.stringify({ ...ticket, context }) },
  });
}

test('lists every route of the control API, and no other', () => {
  const { app } = createSimulator({ seed: 1, speed: 1, now: () => START });
  const routes = app.routes
    .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/control/'))
    .map(({ method, path }) => `${method} ${path}`);
  expect(routes.length).toBeGreaterThan(15);
  expect(ROWS.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([...new Set(routes)].sort());
});

describe('takes and answers what the page says', () => {
  test.each(ROWS)('$method $path', async (row) => {
    const { fleet, fault, treeFault, snapshot } = await given();
    const route = `${row.method} ${row.path}`;
    const path = row.path
      .replace('/control', '')
      .replace(':name', 'web-x')
      .replace(':id', row.path.includes('/config/') ? treeFault : fault);
    const request = path === '/snapshot' ? { snapshot } : REQUESTS[route];
    const query = (row.method === 'GET' && QUERIES[path]) || '';
    const { status, body } = await fleet.answer(row.method, path + query, row.method === 'GET' ? undefined : request);
    expect({ status, error: body.error }).toEqual({ status: expect.any(Number), error: undefined });
    expect(status).toBeLessThan(300);
    if (/^`\{[^…]*\}`/.test(row.body))
      expect(known(row.body)).toEqual(expect.arrayContaining(Object.keys(request ?? {})));
    const shape = shapeOf(row);
    for (const answer of Array.isArray(body) ? body : [body]) {
      expect(Object.keys(answer as object)).toEqual(
        expect.arrayContaining(row.answer === 'the same' ? [] : required(shape)),
      );
      expect(known(shape)).toEqual(expect.arrayContaining(Object.keys(answer as object)));
    }
  });
});

test('names every metric, and every kind and mode of fault', async () => {
  const { fleet } = await given();
  const wrong = async (path: string, body: object): Promise<string> =>
    (await fleet.answer('POST', path, body)).body.error.message;
  const kinds = await wrong('/faults', { kind: 'none' });
  const ofTree = await wrong('/config/faults', { kind: 'none' });
  const modes = await wrong('/faults', { kind: 'http', service: 'twine', mode: 'none' });
  const words = [...`${kinds}${ofTree}`.matchAll(/'([\w-]+)'/g), ...modes.matchAll(/"([\w-]+)"/g)].map(
    ([, word = '']) => word,
  );
  expect(words.length).toBeGreaterThan(8);
  for (const word of words) expect(PAGE).toContain(`\`${word}\``);
  for (const metric of METRICS) expect(PAGE).toContain(`\`${metric}\``);
});
