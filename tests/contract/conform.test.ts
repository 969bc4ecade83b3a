import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { viaApp } from '../../sdk/client';
import type { Fetch } from '../../sdk/request';
import { ACTION_SERVICE_CHECKS } from '../../sdk/conform/actionService';
import { ARTIFACT_FINDER_CHECKS } from '../../sdk/conform/artifactFinder';
import { DATA_SOURCE_CHECKS } from '../../sdk/conform/dataSource';
import { DEPENDENCY_GRAPH_CHECKS } from '../../sdk/conform/dependencyGraph';
import { HEALTH_SERVICE_CHECKS } from '../../sdk/conform/healthService';
import { liveDataSource } from '../../sdk/conform/live/others';
import { livePushType } from '../../sdk/conform/live/pushType';
import { PUSH_TYPE_CHECKS } from '../../sdk/conform/pushType/suite';
import { conform, type ConformReport } from '../../sdk/conform/run';
import { formatDocsSection } from '../../sdk/conform/check';
import { TICKET_CHECKS } from '../../sdk/conform/tickets';
import { TASK_CONTROLLER_CHECKS } from '../../sdk/conform/taskController';
import { NOW } from '../builders/cliSamples';
import { run } from '../builders/cliWorld';
import { silentFetch } from '../builders/silentFetch';
import { givenFleet, START, type TestFleet } from '../builders/simulatorFleet';

const UNITS = ['kvstore-x', 'kvstore-y'] as const;
const URL = 'http://simulator/push-types/twine';
const CONFIG = { jobs: [...UNITS] };

async function twine(): Promise<{ fleet: TestFleet; fetch: Fetch }> {
  const fleet = givenFleet();
  for (const name of UNITS) await fleet.job(name, { tasks: 10, nSmall: 2, budget: 2 });
  await fleet.behaves('dead:1', { crashOnStart: true });
  const app = viaApp(fleet.app);
  return { fleet, fetch: (request) => app(request) };
}

/** Runs the suite against the simulated fleet as it is called over a network: time passes while the suite waits. */
async function tried(change: (fetch: Fetch, request: Request) => Promise<Response>, only: string) {
  const { fleet, fetch } = await twine();
  const live = livePushType({
    ...{ url: URL, fetch: (request) => change(fetch, request), config: CONFIG, units: UNITS },
    ...{ newVersions: ['new:1', 'new:2'], deadVersion: 'dead:1', settleMs: 3_600_000, nonce: 'n' },
    ...{ now: fleet.now, sleep: async (ms) => fleet.pass(50 * ms) },
  });
  const checks = live.checks.filter(({ title }) => title.includes(only));
  const report = await conform({ ...live, checks });
  return { report, fleet };
}

const methodOf = (request: Request): string => request.url.split('/').at(-1) ?? '';
const json = (value: unknown): Response => new Response(JSON.stringify(value));
const failures = ({ checks }: ConformReport) => checks.filter(({ state }) => state === 'failed');

test('a push type that keeps its protocol passes, and runs what it ran before', async () => {
  const { report, fleet } = await tried((fetch, request) => fetch(request), '');
  expect(failures(report)).toEqual([]);
  expect(report).toMatchObject({ failed: 0, notRun: 0, skipped: 3 });
  for (const unit of UNITS)
    expect(await fleet.look(unit)).toMatchObject({ versions: { 'kv:1': 10 }, jobVersion: 'kv:1' });
});

describe('a push type that breaks a rule fails with the rule and its own answer', () => {
  const refusingRepetitions = () => {
    const seen = new Set<string>();
    return async (fetch: Fetch, request: Request): Promise<Response> => {
      const key = request.headers.get('idempotency-key') ?? '';
      const isKnown = seen.has(key);
      if (methodOf(request) === 'executeUpdates') seen.add(key);
      const error = { code: 'known', message: 'this update is known', retryable: false };
      return isKnown ? new Response(JSON.stringify({ error }), { status: 409 }) : fetch(request);
    };
  };

  test.each([
    ['ignores pause', 'pause starts no more', 'pauseUpdates', () => ignoring('pauseUpdates')],
    ['ignores cancel', 'cancel ends the update', 'cancelUpdates', () => ignoring('cancelUpdates')],
    ['refuses a repetition', 'a replay of a key', 'executeUpdates', refusingRepetitions],
    ['knows every update', 'an unknown update', 'trackUpdates', () => answering('trackUpdates', { units: [] })],
    [
      'counts tasks that a revert does not mean',
      'what a revert has still to take back',
      'needsPush',
      () => answeringAboutAll,
    ],
    [
      'finds no mistake in a config',
      'a config that names its units',
      'validateConfig',
      () => answering('validateConfig', { problems: [] }),
    ],
    [
      'passes without data',
      'health without data',
      'runHealthChecks',
      () => answering('runHealthChecks', { units: [], deploy: { checks: [] } }),
    ],
  ])('%s', async (_, only, method, change) => {
    const { report } = await tried(change(), only);
    const [failure] = failures(report);
    expect(failure).toMatchObject({ method, section: `docs/reference/protocols.md#${method.toLowerCase()}` });
    expect(failure?.title).toContain(only);
    expect(failure?.reason).not.toBe('');
    expect(failure?.advice).not.toBe('');
    expect(failure?.calls?.length).toBeGreaterThan(0);
  });

  test('an answer that contradicts itself is reported by its field and the rule', async () => {
    const { report } = await tried(async (fetch, request) => {
      const answer = await fetch(request);
      if (methodOf(request) !== 'trackUpdates') return answer;
      const { units } = (await answer.json()) as { units: object[] };
      return json({ units: units.map((unit) => ({ ...unit, targeted: 2, updated: 0, live: 2 })) });
    }, 'a replay of a key');
    expect(failures(report)[0]?.reason).toContain('units.0.live: 2 is more than updated, 0');
  });

  const ignoring =
    (method: string) =>
    async (fetch: Fetch, request: Request): Promise<Response> =>
      methodOf(request) === method ? json({}) : fetch(request);
  const answeringAboutAll = async (fetch: Fetch, request: Request): Promise<Response> => {
    const { targets, ...asked } = (await request.clone().json()) as { targets?: { updatedBy?: string[] }[] };
    if (methodOf(request) !== 'needsPush' || !targets) return fetch(request);
    const all = targets.map(({ updatedBy: _, ...target }) => target);
    return fetch(new Request(request, { body: JSON.stringify({ ...asked, targets: all }) }));
  };
  const answering =
    (method: string, answer: object) =>
    async (fetch: Fetch, request: Request): Promise<Response> =>
      methodOf(request) === method ? json(answer) : fetch(request);
});

type Change = () => (fetch: Fetch, request: Request) => Promise<Response>;
type Asked = Record<string, unknown> & { units?: string[]; updateId?: string };

/** Sends a removal in another form; it keeps its key, unless that changes, too. */
const removing =
  (change: (asked: Asked, nth: number) => Asked, keyOf = (key: string, _: number): string => key): Change =>
  () => {
    let nth = 0;
    return async (fetch, request) => {
      if (methodOf(request) !== 'removeUnits') return fetch(request);
      const asked = (await request.clone().json()) as Asked;
      const headers = new Headers(request.headers);
      headers.set('idempotency-key', keyOf(headers.get('idempotency-key') ?? '', (nth += 1)));
      const answer = await fetch(new Request(request, { headers, body: JSON.stringify(change(asked, nth)) }));
      return answer.status === 200 ? json({ accepted: asked.units }) : answer;
    };
  };
const hasUnits = ({ units = [] }: Asked): boolean => units.length > 0;

const ignoringRemovals = removing((asked) => ({ ...asked, units: [] }));
const removingAll = removing((asked) => (hasUnits(asked) ? { ...asked, units: [...UNITS] } : asked));
const removingAllForNone = removing((asked) => ({ ...asked, units: [...UNITS] }));
const removingKnown: Change = () => async (fetch, request) => {
  if (methodOf(request) !== 'removeUnits') return fetch(request);
  const asked = (await request.clone().json()) as Asked;
  const known = asked.units?.filter((unit) => UNITS.some((one) => one === unit));
  await fetch(new Request(request, { body: JSON.stringify({ ...asked, units: known }) }));
  return fetch(request);
};
/** Each call of a removal after the first is another one for it. */
const forgettingRemovals = removing(
  (asked, nth) => (nth > 2 ? { ...asked, updateId: `deploy/forgotten/1/deploy/1/remove/${nth}` } : asked),
  (key, nth) => `${key} ${nth}`,
);
/** A removal of another deploy is one of the deploy that updates the unit. */
const takingTurns = removing((asked) => ({
  ...asked,
  updateId: asked.updateId?.replace(/\/\d+\/deploy\//, '/10/deploy/'),
}));
const withoutFences = removing(({ context, ...asked }) => ({
  ...asked,
  context: { ...(context as object), fence: undefined },
}));
const keepingVersions: Change = () => async (fetch, request) => {
  const answer = await fetch(request);
  if (methodOf(request) !== 'fetchDeployUnits') return answer;
  const { units, ...rest } = (await answer.json()) as { units: { version: string | null }[] };
  return json({ ...rest, units: units.map((unit) => ({ ...unit, version: unit.version ?? 'kv:1' })) });
};
const bringingNothing: Change = () => {
  let isRemoved = false;
  return async (fetch, request) => {
    const method = methodOf(request);
    const asked = (await request.clone().json()) as Asked;
    if (method === 'removeUnits') isRemoved ||= hasUnits(asked);
    const isBack = method === 'executeUpdates' && isRemoved && !asked.updateId?.includes('restore');
    if (!isBack) return fetch(request);
    const { targets } = asked as unknown as { targets: { unit: string }[] };
    return json({ accepted: targets.map(({ unit }) => unit) });
  };
};
const needingNothing: Change = () => async (fetch, request) => {
  const answer = await fetch(request);
  if (methodOf(request) !== 'needsPush') return answer;
  const { units } = (await answer.json()) as { units: { size: number; outdated: number }[] };
  return json({ units: units.map((unit) => ({ ...unit, outdated: Math.min(unit.size, unit.outdated) })) });
};
const knowingNoRemoved: Change = () => {
  let removals = 0;
  return async (fetch, request) => {
    if (methodOf(request) === 'removeUnits' && hasUnits((await request.clone().json()) as Asked)) removals += 1;
    const error = { code: 'unknown-unit', message: 'there is no such unit', retryable: false };
    if (methodOf(request) !== 'removeUnits' || removals < 2) return fetch(request);
    return new Response(JSON.stringify({ error }), { status: 404 });
  };
};

const ignoringCancels: Change = () => async (fetch, request) =>
  methodOf(request) === 'cancelUpdates' ? json({}) : fetch(request);

describe('a push type that removes units and breaks a rule fails with the rule', () => {
  test.each<[string, string, Change]>([
    ['takes the call and removes nothing', 'a removal stops all tasks', ignoringRemovals],
    ['keeps the version of a removed unit', 'a removal stops all tasks', keepingVersions],
    ['removes all units, also those that were not named', 'a removal stops all tasks', removingAll],
    ['removes what it knows of several units', 'a removal that names a unit', removingKnown],
    ['forgets its removals', 'a removal that comes again', forgettingRemovals],
    ['ends the update of another deploy', 'a unit that another deploy is updating is not removed', takingTurns],
    ['brings nothing back', 'an update brings a removed unit back', bringingNothing],
    ['needs no push of a removed unit', 'an update brings a removed unit back', needingNothing],
    ['knows no removed unit any more', 'a unit that is removed may be removed again', knowingNoRemoved],
    ['begins a removal after its cancel', 'a removal that was cancelled', ignoringCancels],
    ['knows no fences', 'a removal of a deploy that has lost', withoutFences],
    ['takes no units for all units', 'a removal of no units', removingAllForNone],
  ])('%s', async (_, only, change) => {
    const { report } = await tried(change(), only);
    const [failure] = failures(report);
    expect(failure).toMatchObject({ method: 'removeUnits', section: 'docs/reference/protocols.md#removeunits' });
    expect(failure?.title).toContain(only);
    expect(failure?.reason).not.toBe('');
  });

  test('a push type that cannot remove units is not tried, and the report says why', async () => {
    const without: Change = () => async (fetch, request) =>
      methodOf(request) === 'removeUnits' ? new Response('', { status: 404 }) : fetch(request);
    const { report } = await tried(without(), 'remov');
    const skipped = report.checks.filter(({ method }) => method === 'removeUnits');
    expect(skipped.length).toBeGreaterThanOrEqual(6);
    for (const { state, reason } of skipped)
      expect([state, reason]).toEqual(['skipped', 'it leaves removeUnits out, as it may']);
  });
});

test('nothing is changed where the service answers other units than the flags name', async () => {
  const called: string[] = [];
  const { report } = await tried(async (fetch, request) => {
    called.push(methodOf(request));
    if (methodOf(request) !== 'fetchDeployUnits') return fetch(request);
    const answer = (await (await fetch(request)).json()) as { units: object[] };
    return json({ ...answer, units: [...answer.units, { ...answer.units[0], id: 'production' }] });
  }, '');
  expect(failures(report).map(({ reason }) => reason)).toEqual([
    'fetchDeployUnits answered the units kvstore-x, kvstore-y, production, the flags name kvstore-x, kvstore-y',
  ]);
  expect(report.notRun).toBe(PUSH_TYPE_CHECKS.length);
  expect(called).toEqual(['fetchDeployUnits']);
});

test('the run ends, and says so, where the units cannot be brought back after a check', async () => {
  const { report } = await tried(async (fetch, request) => {
    const isRestoring = request.headers.get('idempotency-key')?.includes('restore') ?? false;
    return isRestoring && methodOf(request) === 'executeUpdates' ? json({ accepted: [...UNITS] }) : fetch(request);
  }, 'a');
  const [failure] = failures(report);
  expect(failure?.reason).toContain('could not be brought back to kv:1 after a check');
  expect(report.notRun).toBeGreaterThan(0);
});

describe('a service in trouble is reported, and the run ends', () => {
  const HTML = '<!doctype html><title>Welcome to nginx!</title>';
  const halfAnswer = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-length': 1000 });
    response.write('{"units": [', () => response.destroy());
  };
  const drip = (response: ServerResponse): void => {
    response.writeHead(200);
    response.write('{');
  };
  const TROUBLES: readonly (readonly [string, RequestListener, string])[] = [
    ['is silent', () => undefined, 'no answer within 300 ms'],
    ['is slow', (_, response) => drip(response), 'no answer within 300 ms'],
    ['answers half', (_, response) => halfAnswer(response), 'fetchDeployUnits'],
    ['answers HTML', (_, response) => response.end(HTML), 'not JSON: <!doctype html>'],
    ['answers too much', (_, response) => response.end(' '.repeat(5 * 1_048_576)), 'larger than 4 MiB'],
    ['redirects', (_, response) => response.writeHead(302, { location: '/' }).end(), '302 instead of an answer'],
    ['fails', (_, response) => response.writeHead(500).end('oh'), '500 oh'],
    ['answers something else', (_, response) => response.end('{"units": 7}'), 'in violation of its protocol: service'],
  ];

  test.each(TROUBLES)('one that %s', async (_, listener, reason) => {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // A busy machine needs a while to read five megabytes.
    const limit = reason.startsWith('larger') ? '10s' : '300ms';
    try {
      const { code, out } = await run(
        ['conform', 'push-type', url, '--units', 'a,b', '--new-versions', 'v', '--call-timeout', limit, '--json'],
        { fetch },
      );
      const report = JSON.parse(out) as ConformReport;
      expect(code).toBe(3);
      expect(failures(report)).toHaveLength(1);
      expect(failures(report)[0]?.reason).toContain(reason);
      expect(report.notRun).toBe(PUSH_TYPE_CHECKS.length);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test('one that dies in the middle of a check', async () => {
    let calls = 0;
    const { report } = await tried((fetch, request) => {
      calls += 1;
      return calls > 12 ? Promise.reject(new TypeError('connect ECONNREFUSED')) : fetch(request);
    }, '');
    expect(failures(report).at(-1)?.reason).toContain('ECONNREFUSED');
    expect(report.notRun).toBeGreaterThan(20);
  });

  test('one whose answers are late in single checks of another kind', async () => {
    const subject = { url: 'http://silent', timeoutMs: 20, metric: 'm', unit: 'u' };
    const report = await conform(
      liveDataSource({ ...subject, fetch: silentFetch, tasks: ['a', 'b'], window: { start: 0, end: 1 } }),
    );
    expect(failures(report)[0]?.reason).toContain('no answer within 20 ms');
  });
});

describe('conveyor conform', () => {
  const viaTwine = async (): Promise<typeof globalThis.fetch> => {
    const { fleet, fetch } = await twine();
    return (async (request: Request) => {
      fleet.pass(1_000);
      return fetch(request);
    }) as typeof globalThis.fetch;
  };
  const FLAGS = ['--units', UNITS.join(','), '--new-versions', 'new:1,new:2', '--config', JSON.stringify(CONFIG)];

  test('prints what holds, what was not tried and why, and ends with 0', async () => {
    const argv = ['conform', 'push-type', URL, ...FLAGS, '--patience', '1h', '--only', 'no such'];
    const none = await run(argv, { fetch: await viaTwine() });
    expect(none).toMatchObject({
      code: 2,
      err: expect.stringContaining('no check has no such in its title') as string,
    });
    const { code, out } = await run([...argv.slice(0, -1), 'tasks that'], { fetch: await viaTwine() });
    expect(out).toBe(
      [
        '· tasks that do not come up stop the update of their unit, with a reason  skipped: needs a version whose tasks do not come up: --dead-version',
        '· tasks that are down are restarted by the revert  skipped: needs a version whose tasks do not come up: --dead-version',
        '· a revert with an amount begins with the tasks that are down  skipped: needs a version whose tasks do not come up: --dead-version',
        '',
        'Nothing was tried: 0 passed, 3 skipped.',
        '',
      ].join('\n'),
    );
    expect(code).toBe(0);
  });

  test('prints of a failure the rule, what was expected, what to do and the calls, and ends with 3', async () => {
    const honest = await viaTwine();
    const deaf = (async (request: Request) =>
      request.url.endsWith('validateConfig') ? json({ problems: [] }) : honest(request)) as typeof fetch;
    const argv = ['conform', 'push-type', URL, ...FLAGS, '--only', 'a config that'];
    const { code, out } = await run(argv, { fetch: deaf });
    expect(out).toBe(
      [
        '✖ a config that names its units has no problems, and one that names none has',
        '    problems of the config {} is [], expected at least one',
        '    → answer every mistake in context.config as { path, message }, and [] when there is none',
        '    the rule: docs/reference/protocols.md#validateconfig',
        '    POST validateConfig  {}',
        '      = 200  {"problems":[]}',
        '    POST validateConfig  {}',
        '      = 200  {"problems":[]}',
        '',
        'This is not a push-type yet: 0 passed, 1 failed.',
        '',
      ].join('\n'),
    );
    expect(code).toBe(3);
  });

  test.each([
    [['push-type', 'localhost:1', ...FLAGS], 'localhost:1 is not a URL of a service'],
    [['push-type', URL, '--units', 'a', '--new-versions', 'v'], '--units a are 1 names'],
    [['push-type', URL, '--units', 'a,b', '--new-versions', 'v', '--config', '[]'], '--config [] is not a JSON object'],
    [['push-type', URL, '--new-versions', 'v'], '--units'],
    [['data-source', URL, '--metric', 'm', '--unit', 'u', '--tasks', 'a,a'], '--tasks a,a are 2 names'],
    [['action-service', URL, '--good-version', '1', '--token-env', 'NOT_SET'], 'NOT_SET is not set'],
  ])('refuses %j before anything is called', async (argv, message) => {
    const called = jest.fn();
    const { code, err } = await run(['conform', ...argv], { fetch: called as never });
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(called).not.toHaveBeenCalled();
  });

  test.each([
    [
      ['action-service', 'http://s/actions/build', '--good-version', '12', '--bad-version', '13'],
      { passed: 7, failed: 0, skipped: 1 },
    ],
    [
      ['artifact-finder', 'http://s/artifact-finders/commits', '--with', '{"repository":"kv","branch":"main"}'].concat(
        '--other',
        '{"repository":"none","branch":"main"}',
      ),
      { failed: 0, passed: 5 },
    ],
    [
      ['data-source', 'http://s/data-source', '--metric', 'system.cpu', '--unit', UNITS[0]].concat(
        '--tasks',
        `${UNITS[0]}/1/1,${UNITS[0]}/2/1`,
      ),
      { failed: 0, passed: 7 },
    ],
  ])('tests %j', async (argv, counts) => {
    const fleet = givenFleet();
    fleet.pass(NOW - START - 1_200_000);
    await fleet.behaves('13', { failBuild: true });
    await fleet.job(UNITS[0]);
    fleet.pass(1_200_000);
    await fleet.control('POST', '/commits', { repository: 'kv', branch: 'main', revision: 'a' });
    const app = viaApp(fleet.app);
    const passing = async (request: Request): Promise<Response> => {
      if (request.url.endsWith('getRunProgress')) fleet.pass(2_000);
      return app(request);
    };
    const { out } = await run(['conform', ...argv, '--json'], { fetch: passing as typeof fetch });
    const report = JSON.parse(out) as ConformReport;
    expect(failures(report)).toEqual([]);
    expect(report).toMatchObject(counts);
  });
});

test('every check leads to a heading of docs/reference/protocols.md, and no two have the same title', () => {
  const page = readFileSync(join(__dirname, '../../docs/reference/protocols.md'), 'utf8');
  const headings = [...page.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => formatDocsSection(name));
  for (const checks of [
    PUSH_TYPE_CHECKS,
    ACTION_SERVICE_CHECKS,
    ARTIFACT_FINDER_CHECKS,
    TASK_CONTROLLER_CHECKS,
    DATA_SOURCE_CHECKS,
    DEPENDENCY_GRAPH_CHECKS,
    HEALTH_SERVICE_CHECKS,
    TICKET_CHECKS,
  ]) {
    expect(checks.filter(({ method }) => !headings.includes(formatDocsSection(method)))).toEqual([]);
    expect(new Set(checks.map(({ title }) => title)).size).toBe(checks.length);
  }
});
