import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSilent, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { buildChecks } from '../../cli/doctor/builds';
import { attributeChecks } from '../../cli/doctor/attributes';
import { SEARCH_ATTRIBUTES } from '../../domain/searchAttributes';
import type { DoctorCheck } from '../../cli/doctor/check';
import { runChecks, withoutOwnTemporal } from '../../cli/doctor/checks';
import { scriptChecks } from '../../cli/doctor/scripts';
import type { ConnectOptions } from '../../cli/io';
import type { BuildsView } from '../../domain/builds';
import type { ExaminationView } from '../../domain/examination';

const folder = mkdtempSync(path.join(tmpdir(), 'conveyor-doctor-'));
const tools = path.join(folder, 'bin');
mkdirSync(tools);
for (const tool of ['bash', 'dirname', 'sed', 'sh']) {
  symlinkSync(
    [`/bin/${tool}`, `/usr/bin/${tool}`].find((it) => existsSync(it))!,
    path.join(tools, tool),
  );
}
const servers: Server[] = [];
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
});

/** Checks of a machine with an empty cache and no tools but a shell, whose usual ports are all elsewhere. */
async function examine(
  changes: Record<string, string>,
  flags: ConnectOptions = {},
): Promise<Record<string, DoctorCheck>> {
  const unused = await listen(() => 500, true);
  const env = {
    PATH: tools,
    HOME: folder,
    CONVEYOR_CACHE: path.join(folder, 'cache'),
    TEMPORAL_ADDRESS: `127.0.0.1:${unused}`,
    CONVEYOR_WEB_UI: `http://127.0.0.1:${unused}`,
    CONVEYOR_SIMULATOR_URL: `http://127.0.0.1:${unused}`,
    CONVEYOR_SERVER_URL: `http://127.0.0.1:${unused}`,
    ...changes,
  };
  return Object.fromEntries((await runChecks(env, flags)).map((check) => [check.name, check]));
}

/** The ports of these tests: the kernel may give the number of a closed one again. */
const ports = new Set<number>();

/** A port where something answers with a status, or after `close` one where nothing does. */
async function listen(status: () => number, close = false): Promise<number> {
  const server = createServer((_, response) => response.writeHead(status()).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const isUsed = ports.has(port);
  ports.add(port);
  if (close || isUsed) await new Promise((resolve) => server.close(resolve));
  else servers.push(server);
  return isUsed ? listen(status, close) : port;
}

test('everything that is not in order says how to fix it, and nothing else does', async () => {
  const checks = Object.values(await examine({}));
  expect(checks.filter((check) => (check.state === 'ok') !== (check.how === null))).toEqual([]);
});

test('a Temporal server that was never installed is missing, with the command that gets it', async () => {
  const { 'Temporal server': check } = await examine({});
  expect(check).toMatchObject({
    state: 'missing',
    how: expect.stringContaining('./temporal-dev.sh --install-only') as string,
  });
});

test('a machine that reaches a Temporal server elsewhere is not broken without one of its own', () => {
  const own: DoctorCheck = { name: 'Temporal server', state: 'missing', found: 'none', how: 'get one' };
  const state = (name: string, answers: DoctorCheck['state']) =>
    withoutOwnTemporal([own, { name, state: answers, found: '', how: null }])[0]?.state;
  expect([state('Temporal', 'ok'), state('temporal of the server', 'ok')]).toEqual(['warning', 'warning']);
  expect([state('Temporal', 'warning'), state('Node', 'ok')]).toEqual(['missing', 'missing']);
});

test('a Temporal server that TEMPORAL_CLI names is found', async () => {
  const fake = path.join(folder, 'temporal');
  writeFileSync(fake, '#!/bin/sh\necho temporal version 1.8.2\n', { mode: 0o755 });
  const { 'Temporal server': check } = await examine({ TEMPORAL_CLI: fake });
  expect(check).toEqual({ name: 'Temporal server', state: 'ok', found: `temporal version 1.8.2, ${fake}`, how: null });
});

test('a port that another program holds is distinguished from one that is free and from one of ours', async () => {
  const [stranger, ours] = [await listen(() => 404), await listen(() => 200)];
  const checks = await examine({
    CONVEYOR_SERVER_URL: `http://127.0.0.1:${stranger}`,
    CONVEYOR_SIMULATOR_URL: `http://127.0.0.1:${ours}`,
  });
  expect(checks[`port ${stranger}`]).toMatchObject({
    state: 'warning',
    found: 'taken by something that did not answer as the server within 10s',
  });
  expect(checks[`port ${ours}`]).toMatchObject({ state: 'ok', found: 'the simulator answers' });
});

test('a Temporal server that says nothing is not said to be absent or another program, and hides what stands behind it', async () => {
  const silent = createSilent();
  const mute = await new Promise<number>((resolve) =>
    silent.listen(0, '127.0.0.1', () => resolve((silent.address() as AddressInfo).port)),
  );
  const checks = await examine({ TEMPORAL_ADDRESS: `127.0.0.1:${mute}` });
  silent.close();
  expect(checks['Temporal']).toMatchObject({
    state: 'missing',
    found: `the server at 127.0.0.1:${mute} accepts connections, but did not answer within 10s: it is frozen or too busy`,
  });
  expect(checks[`port ${mute}`]?.found).toBe('Temporal, or another program on its port, did not answer within 10s');
  expect(checks['workers']).toMatchObject({
    state: 'warning',
    found: 'not checked, nor the services behind them: Temporal does not answer',
  });
});

test('a program in the place of Temporal is told from a Temporal server that says nothing', async () => {
  const other = await listen(() => 404);
  const { Temporal: check } = await examine({ TEMPORAL_ADDRESS: `127.0.0.1:${other}` });
  expect(check).toMatchObject({
    state: 'missing',
    found: `the program at 127.0.0.1:${other} is not Temporal: it answers HTTP, but not as Temporal within 10s`,
  });
});

test('doctor examines the server and the namespace that flags name, before those of the environment', async () => {
  const [page, silent] = [await listen(() => 200), await listen(() => 200, true)];
  const checks = await examine(
    { CONVEYOR_WEB_UI: `http://127.0.0.1:${page}`, TEMPORAL_NAMESPACE: 'other' },
    { address: `127.0.0.1:${silent}`, namespace: 'prod' },
  );
  expect(checks['Temporal']?.found).toBe(`nothing answers at 127.0.0.1:${silent}`);
  expect(checks[`port ${silent}`]?.found).toBe('free for Temporal');
  expect(checks[`port ${page}`]?.found).toContain('/namespaces/prod/');
});

const seen = (
  builds: BuildsView | null,
  more: Partial<Pick<ExaminationView, 'end' | 'pollers' | 'backlogs'>> = {},
) => ({
  ...{ builds, pollers: [], backlogs: [] },
  end: { kind: 'answered', tookMs: 1, extensions: [], unused: [] } as const,
  ...more,
});

describe('builds of workers', () => {
  const view = { taskQueue: 'conveyor', current: 'b', polled: ['b'], stuck: [] };

  test('are in order where the current one has workers and nothing waits for another, and no matter where there are none', () => {
    expect(buildChecks(seen(null))).toEqual([]);
    expect(buildChecks(seen({ ...view, polled: ['b', null] }))).toEqual([
      {
        name: 'builds of workers',
        state: 'ok',
        found: 'new work goes to build b; workers of no build poll too',
        how: null,
      },
    ]);
  });

  test.each<[current: string | null, polled: (string | null)[], found: RegExp, how: RegExp]>([
    [
      'b',
      [null],
      /^no worker of build b polls the task queue conveyor/,
      /^conveyor worker --build b, or .* --unversioned --yes$/,
    ],
    ['b', [], /^no worker of build b polls/, /^conveyor worker --build b$/],
    [null, ['a'], /^no worker without a build polls/, /^conveyor worker, without --build, or .* --build-id a --yes$/],
  ])('are broken where %p is current and workers of %p run', (current, polled, found, how) =>
    expect(buildChecks(seen({ ...view, current, polled }))).toEqual([
      {
        ...{ name: 'builds of workers', state: 'missing' },
        ...{ found: expect.stringMatching(found) as string, how: expect.stringMatching(how) as string },
      },
    ]),
  );

  test('are broken where something waits for one that is gone, which is named with both ways on', () => {
    const stuck = [
      { build: 'a', isPolled: false, count: 6, some: ['release/web/4'] },
      { build: 'c', isPolled: true, count: 1, some: ['pipeline/web'] },
    ];
    expect(buildChecks(seen({ ...view, stuck }))).toEqual([
      {
        ...{ name: 'build a', state: 'missing' },
        found: 'no worker runs it, and workflows that began on it wait for one: 6 workflows: release/web/4, …',
        how: expect.stringMatching(/^conveyor worker --build a; or, .*: conveyor doctor --repair/) as string,
      },
      {
        ...{ name: 'build c', state: 'warning', how: expect.stringMatching(/^conveyor doctor --repair/) as string },
        found: 'an older worker pinned workflows to it that should follow the current build: 1 workflow: pipeline/web',
      },
    ]);
  });
});

describe('builds of workers that Temporal still lists', () => {
  const builds = { taskQueue: 'conveyor', current: null, polled: [null, '0.3.0'], stuck: [] };
  const command = 'temporal worker deployment set-current-version --deployment-name conveyor --build-id 0.3.0 --yes';

  test('that get no new work yet say by which command they do', () => {
    expect(buildChecks(seen(builds))).toMatchObject([
      {
        state: 'ok',
        found: expect.stringContaining(`build 0.3.0 poll too, and get none of it until ${command}`) as string,
      },
    ]);
  });

  test('that alone are alive while new work goes to workers that do not answer are named with that command', () => {
    const end = { kind: 'silent', withinMs: 15_000, takenBy: null } as const;
    expect(buildChecks(seen(builds, { end }))).toEqual([
      {
        ...{ name: 'builds of workers', state: 'missing' },
        found: 'new work goes to no build, whose workers do not answer; workers of build 0.3.0 poll but get none of it',
        how: `conveyor worker, without --build; or let build 0.3.0 have it: ${command}`,
      },
    ]);
  });

  test('workers of a build on which work waits for half a minute are broken, even if another build gets new work', () => {
    const waiting = { queue: 'main', kind: 'workflow', build: '0.3.0', tasks: 1, ageMs: 46_000 } as const;
    const pollers = [{ identity: '12@one', build: '0.3.0', lastPollAt: '2026-11-27T18:00:00.000Z' }];
    const of = (backlog: object) =>
      buildChecks(
        seen(
          { ...builds, current: '0.4.0', polled: ['0.3.0', '0.4.0'] },
          { pollers, backlogs: [{ ...waiting, ...backlog }] },
        ),
      ).filter(({ state }) => state === 'missing');
    expect(of({})).toEqual([
      {
        ...{ name: 'build 0.3.0', state: 'missing' },
        found: 'its workers pick up no work, which has waited for 46s: 12@one (last poll: 2026-11-27T18:00:00.000Z)',
        how: expect.stringContaining('conveyor worker --build 0.3.0 starts another') as string,
      },
    ]);
    expect([of({ ageMs: 29_000 }), of({ kind: 'activity' }), of({ build: '0.4.0' })]).toEqual([[], [], []]);
  });
});

describe('the search attributes of a namespace', () => {
  const [KEYWORD, KEYWORD_LIST] = [2, 7];
  const all = Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => [
    name,
    type === 'KEYWORD' ? KEYWORD : KEYWORD_LIST,
  ]);

  test('are in order where workflows find all that they set', () => {
    expect(attributeChecks('default', Object.fromEntries(all) as Record<string, number>)).toEqual([
      { name: 'search attributes', state: 'ok', found: 'all 10 in default', how: null },
    ]);
  });

  test('that are missing, or of another type, are named with the command that registers them', () => {
    const registered = { ...(Object.fromEntries(all.slice(1)) as Record<string, number>), ConveyorOwners: KEYWORD };
    expect(attributeChecks('prod', registered)).toEqual([
      {
        name: 'search attributes',
        state: 'missing',
        found: 'prod lacks ConveyorPipeline, ConveyorOwners; of another type: ConveyorOwners',
        how: 'temporal operator search-attribute create --namespace prod --name ConveyorPipeline --type Keyword --name ConveyorOwners --type KeywordList',
      },
    ]);
  });
});

test('scripts that are off need nothing', async () => {
  const file = path.join(folder, 'off.yaml');
  writeFileSync(file, 'extensions: []\n');
  const { scripts } = await examine({ CONVEYOR_CONFIG: file });
  expect(scripts).toEqual({ name: 'scripts', state: 'ok', found: 'off', how: null });
});

test('gaps in the isolation of scripts are named with how to fix them, and are missing where the configuration demands it', async () => {
  const file = path.join(folder, 'on.yaml');
  writeFileSync(file, 'scripts: { enabled: true, isolation: [user], network: host }\n');
  const { 'scripts: network': network } = await examine({ CONVEYOR_CONFIG: file });
  expect(network).toEqual({
    name: 'scripts: network',
    state: 'warning',
    found: expect.stringContaining('nothing keeps a script from reaching the network and Temporal') as string,
    how: expect.stringContaining('leave out network: host') as string,
  });
  const lacking = {
    missing: ['user', 'memory', 'total'],
    refused: ['unshare failed'],
    method: BARE,
    ungrouped: 'other processes are in the cgroup /a, too',
  } as const;
  expect(scriptChecks(lacking, { required: ['user'] })).toMatchObject([
    { name: 'scripts: user', state: 'missing', found: expect.stringContaining('(unshare failed)') as string },
    { name: 'scripts: memory', state: 'warning' },
    {
      name: 'scripts: total',
      state: 'warning',
      found: expect.stringMatching(/at once \(other processes are in .* too\)$/) as string,
    },
  ]);
});

const BARE = { namespaces: null, account: null, tools: null, groups: null };

test('a configuration that cannot be read says which file and why', async () => {
  const file = path.join(folder, 'broken.yaml');
  writeFileSync(file, 'extensions: 7\n');
  const { configuration } = await examine({ CONVEYOR_CONFIG: file });
  expect(configuration).toMatchObject({ state: 'missing', found: expect.stringContaining(file) as string });
});

test('a source of webhooks that may say everything is a warning, once its secret is set', async () => {
  expect(await examine({})).not.toHaveProperty('webhooks');
  const { webhooks } = await examine({ CONVEYOR_GITHUB_SECRET: 'a secret that is long enough' });
  expect(webhooks).toMatchObject({
    ...{ state: 'warning', found: 'webhooks.github without a scope' },
    how: expect.stringContaining('repositories') as string,
  });
});

test('the door is Temporal itself, or the named server with the identity there', async () => {
  expect((await examine({ TEMPORAL_ADDRESS: '127.0.0.1:1' })).door).toMatchObject({
    state: 'ok',
    found: 'Temporal itself at 127.0.0.1:1, without authentication',
  });
  const gone = 'http://127.0.0.1:1';
  expect((await examine({ CONVEYOR_SERVER: gone, CONVEYOR_BREAK_GLASS: 'it is gone' })).door).toMatchObject({
    state: 'warning',
    found: expect.stringContaining('break-glass: it is gone') as string,
  });
  expect((await examine({ CONVEYOR_SERVER: 'http://conveyor.internal' })).door).toMatchObject({ state: 'missing' });
  const stranger = `http://127.0.0.1:${await listen(() => 404)}`;
  expect((await examine({ CONVEYOR_SERVER: stranger })).door).toMatchObject({
    state: 'missing',
    found: expect.stringContaining(`the server at ${stranger} (CONVEYOR_SERVER): `) as string,
  });
});
