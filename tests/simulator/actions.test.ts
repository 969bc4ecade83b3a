import { viaApp } from '../../sdk/client';
import { callExtension } from '../../sdk/client';
import { actionServiceProtocol, type ActionServiceProtocol } from '../../sdk/protocol/actionService';
import type { ResponseOf } from '../../sdk/protocol/common';
import type { Artifact } from '../../domain/artifact';
import { replay, type TestedVersion } from '../../simulator/actions/replay';
import { computeClosure, testOfTarget } from '../../simulator/monorepo/targets';
import { expectNoViolations, givenFleet, update, type TestFleet } from '../builders/simulatorFleet';

afterEach(expectNoViolations);

type Progress = ResponseOf<ActionServiceProtocol['getRunProgress']>;
const MINUTE = 60_000;
const executable = (version: string, kind = 'executable'): Artifact => ({ name: kind, kind, version, metadata: {} });

/** A run of an action service in a simulated world. */
const started = async (fleet: TestFleet, service: string, inputs: readonly Artifact[], options: object = {}) => {
  const common = {
    service: { name: service, url: `http://simulator/actions/${service}`, timeoutMs: 1000 },
    protocol: actionServiceProtocol,
    context: { pipeline: 'kvstore', release: 1, deployId: 'd', actor: 'user:alice', config: {} },
    fetch: viaApp(fleet.app),
  };
  const run = { runId: 'kvstore/1/a/1', pipeline: 'kvstore', release: 1, action: 'a', attempt: 1 };
  const request = {
    ...run,
    inputs: inputs.map((input) => ({ ...input, metadata: { ...input.metadata } })),
    with: { ...options },
  };
  await callExtension({ ...common, method: 'startRun', request, key: run.runId });
  return (): Promise<Progress> => callExtension({ ...common, method: 'getRunProgress', request: { runId: run.runId } });
};

const ended = async (...[fleet, ...run]: Parameters<typeof started>): Promise<Progress> => {
  const look = await started(fleet, ...run);
  fleet.pass(MINUTE);
  return look();
};

describe('a run shows how far it is', () => {
  test('its messages change on the way, and its address leads to a log of it', async () => {
    const fleet = givenFleet();
    const look = await started(fleet, 'build', [executable('12', 'source')], { target: '//kv:server' });
    const messages = [(await look()).message];
    for (let second = 0; second < 7; second += 1) {
      fleet.pass(1000);
      messages.push((await look()).message);
    }
    expect([...new Set(messages)]).toEqual([
      'resolving //kv:server',
      'compiling 1 target',
      'running 1 unit test',
      'kv:12: 1 unit test passed',
    ]);
    const { url = '' } = await look();
    expect(url).toBe('http://simulator/actions/build/runs/kvstore/1/a/1');
    expect(await (await fleet.app.request(url)).text()).toMatch(/compiling 1 target\n.*\nsucceeded: kv:12/);
  });
});

describe('a build', () => {
  const targets = async (fleet: TestFleet): Promise<void> => {
    await fleet.control('POST', '/targets', { target: '//kv:server', deps: ['//kv/log', '//kv/index'] });
    await fleet.control('POST', '/targets', { target: '//kv/index', deps: ['//base:hash', '//kv/log'] });
  };
  test.each<[string, string, object, object]>([
    [
      'compiles and tests all that its target depends on',
      '//other',
      { failTests: true },
      { state: 'succeeded', message: 'kv:12: 4 unit tests passed' },
    ],
    [
      'fails where a test of a dependency fails, and names it',
      '//base:hash@12',
      { failTests: true },
      { state: 'failed', message: 'the unit test //base:hash_test failed at 12, which //kv:server depends on' },
    ],
    [
      'fails where a dependency does not compile',
      '//kv/log@12',
      { failBuild: true },
      { state: 'failed', message: '//kv/log does not compile at 12' },
    ],
    [
      'fails at a source whose own tests fail',
      '12',
      { failTests: true },
      { state: 'failed', message: 'the unit test //kv:server_test failed at 12' },
    ],
    ['is not troubled by what another version did', '//base:hash@11', { failTests: true }, { state: 'succeeded' }],
  ])('%s', async (_, version, behaviour, expected) => {
    const fleet = givenFleet();
    await targets(fleet);
    await fleet.behaves(version, behaviour);
    expect(await ended(fleet, 'build', [executable('12', 'source')], { target: '//kv:server' })).toMatchObject(
      expected,
    );
  });

  test('that is given a profile makes another executable, which says of which', async () => {
    const inputs = [executable('12', 'source'), executable('kv:12-profile-1', 'profile')];
    const { outputs } = await ended(givenFleet(), 'build', inputs, { target: '//kv:server' });
    expect(outputs).toMatchObject([{ version: 'kv:12-fdo', metadata: { profile: 'kv:12-profile-1' } }]);
  });

  test('a circle of dependencies is gone through once', () => {
    expect(
      computeClosure(
        new Map([
          ['//a', ['//b']],
          ['//b', ['//a']],
        ]),
        '//a',
      ),
    ).toEqual(['//a', '//b']);
    expect([testOfTarget('//kv:server'), testOfTarget('//base/hash')]).toEqual([
      '//kv:server_test',
      '//base/hash:hash_test',
    ]);
  });

  test('a target that is none is refused', async () => {
    const { status, body } = await givenFleet().answer('POST', '/targets', { target: 'kv', deps: [] });
    expect([status, body.error.message]).toEqual([400, 'target: expected a target such as //kv:server']);
    expect(await givenFleet().control('GET', '/targets')).toEqual([]);
  });
});

describe('a performance test', () => {
  const check = async (behaviour: object, options: object, expected: RegExp, state: Progress['state']) => {
    const fleet = givenFleet();
    await fleet.job('kvstore-x');
    await fleet.behaves('kv:2', behaviour);
    const end = await ended(fleet, 'perf-test', [executable('kv:2')], options);
    expect(end.message).toMatch(expected);
    expect(end.state).toBe(state);
    expect(end.outputs ?? []).toEqual([]);
  };
  test.each<[string, object, object, RegExp, Progress['state']]>([
    [
      'of a version like the old one passes, with both numbers',
      {},
      {},
      /^cpu [+-]0\.\d% \(95% CI -0\.\d to \+0\.\d%\), limit 5%; latency/,
      'succeeded',
    ],
    ['says what it compared', {}, {}, /kv:2 against kv:1, 2000 requests of production traffic/, 'succeeded'],
    ['of one that needs a little more passes', { cpuFactor: 1.03 }, {}, /^cpu \+3\.\d%/, 'succeeded'],
    [
      'of one that needs more than it may fails',
      { cpuFactor: 1.08 },
      {},
      /^more cpu than allowed: cpu \+8\.\d%/,
      'failed',
    ],
    [
      'of one that is slower fails',
      { latencyFactor: 1.2 },
      {},
      /^more latency than allowed: .*latency \+(19|20)\.\d%/,
      'failed',
    ],
    ['of one that fails more requests fails', { errorRatio: 0.05 }, {}, /^more errors than allowed/, 'failed'],
    [
      'goes by the threshold that it is given',
      { cpuFactor: 1.08 },
      { threshold: { cpu: '10%' } },
      /limit 10%/,
      'succeeded',
    ],
    [
      'goes by the baseline that it is given',
      { cpuFactor: 1.2 },
      { baseline: 'kv:2' },
      /kv:2 against kv:2/,
      'succeeded',
    ],
    ['plays more requests where few are inconclusive', { cpuFactor: 1.0475 }, {}, /(8000|32000) requests/, 'succeeded'],
    ['sees nothing that shows in one region only', { cpuFactor: 2, onlyRegion: 'x' }, {}, /cpu [+-]0/, 'succeeded'],
    ['of one that fails its tests fails', { failTests: true }, {}, /kv:2 failed its tests/, 'failed'],
    [
      'without anything in production has nothing to object to',
      {},
      { service: 'other' },
      /nothing runs in production/,
      'succeeded',
    ],
  ])('%s', (_, behaviour, options, expected, state) => check(behaviour, options, expected, state));

  test('is refused with a threshold that is not a percentage', async () => {
    const run = started(givenFleet(), 'perf-test', [executable('kv:2')], { threshold: { cpu: 5 } });
    await expect(run).rejects.toThrow(/threshold\.cpu/);
  });

  test('on the same recording comes to the same numbers, and its interval holds the truth', () => {
    const side = (version: string, cpuFactor: number): TestedVersion => ({
      version,
      cpuFactor,
      latencyFactor: 1,
      errorRatio: 0,
    });
    const run = (seed: number) => replay({ seed, name: 'peak', requests: 2000 }, side('a', 1), side('b', 1.1)).cpu;
    expect(run(7)).toEqual(run(7));
    const hits = Array.from({ length: 100 }, (_, seed) => run(seed)).filter(({ low, high }) => low < 0.1 && high > 0.1);
    expect(hits.length).toBeGreaterThan(88);
  });
});

describe('the profiler', () => {
  const profiled = async (options: object = {}) => {
    const fleet = givenFleet();
    await fleet.job('kvstore-x', { nSmall: 2, budget: 3 });
    await fleet.twine('executeUpdates', update('u/1/1', 'kvstore-x', 'kv:2', { amount: { count: 2 } }));
    fleet.pass(2 * MINUTE);
    const look = await started(fleet, 'profile', [executable('kv:2')], options);
    return { fleet, look };
  };

  test('collects from the tasks that run the version, and no others', async () => {
    const { fleet, look } = await profiled();
    expect(await look()).toMatchObject({ state: 'running', progress: 0 });
    fleet.pass(3 * MINUTE);
    expect(await look()).toMatchObject({ state: 'running', message: '6 of 10 samples from 2 tasks on kv:2' });
    fleet.pass(2 * MINUTE);
    const { outputs, ...end } = await look();
    expect(end).toMatchObject({ state: 'succeeded', message: '10 of 10 samples from 2 tasks on kv:2' });
    expect(outputs).toMatchObject([
      {
        name: 'profile',
        kind: 'profile',
        version: 'kv:2-profile-1',
        metadata: { of: 'kv:2', tasks: '2', samples: '10' },
      },
    ]);
  });

  test('keeps what it collected when the tasks are gone', async () => {
    const { fleet, look } = await profiled();
    fleet.pass(5 * MINUTE);
    const before = await look();
    await fleet.twine('executeUpdates', update('u/revert/1', 'kvstore-x', 'kv:1', { updatedBy: ['u/1/1'] }));
    fleet.pass(10 * MINUTE);
    expect(await look()).toEqual(before);
  });

  test('gives up when nothing runs the version', async () => {
    const fleet = givenFleet();
    await fleet.job('kvstore-x');
    const look = await started(fleet, 'profile', [executable('kv:2')]);
    fleet.pass(31 * MINUTE);
    expect(await look()).toMatchObject({ state: 'failed', message: expect.stringContaining('only 0 of 10 samples') });
  });

  test('is refused for jobs that do not exist', async () => {
    await expect(started(givenFleet(), 'profile', [executable('kv:2')])).rejects.toThrow(/no job belongs to .*kvstore/);
    const named = started(givenFleet(), 'profile', [executable('kv:2')], { jobs: ['kv'] });
    await expect(named).rejects.toThrow(/no job kv/);
  });
});

describe('the actions of frontfaas', () => {
  const given = async (behaviour: object = {}): Promise<TestFleet> => {
    const fleet = givenFleet();
    await fleet.behaves('kv:1', behaviour);
    await fleet.job('kvstore-x', { tasks: 40 });
    fleet.pass(5 * MINUTE);
    return fleet;
  };

  test('sanity-check lets a healthy fleet pass', async () =>
    expect(await ended(await given(), 'sanity-check', [])).toMatchObject({
      state: 'succeeded',
      message: 'no alert on 1 jobs',
    }));

  test.each(['sanity-check', 'check-and-prefetch'])('%s fails while an alert blocks deploys', async (service) => {
    expect(await ended(await given({ errorRatio: 0.2 }), service, [])).toMatchObject({
      state: 'failed',
      message: expect.stringMatching(/^deploys are blocked: (19|20)\.\d% of the requests to kvstore-x fail$/),
    });
  });

  test('sanity-check fails while more tasks are down than may be', async () => {
    const fleet = await given();
    await fleet.control('POST', '/faults', { kind: 'region', id: 'x' });
    expect((await ended(fleet, 'sanity-check', [])).message).toContain('40 tasks of kvstore-x are down');
  });

  test('load-test-filter names the machines under load test and the tasks on them, always the same', async () => {
    const fleet = await given();
    const { outputs } = await ended(fleet, 'load-test-filter', [], { outputs: ['load-tested'], share: 0.2 });
    const [artifact] = outputs ?? [];
    const metadata = artifact?.metadata ?? {};
    expect(artifact).toMatchObject({
      name: 'load-tested',
      kind: 'config',
      version: expect.stringMatching(/^[0-9a-f]+$/),
    });
    const machines = (metadata['machines'] ?? '').split(',');
    expect(machines.length).toBeGreaterThan(2);
    expect(machines.length).toBeLessThan(20);
    expect((metadata['tasks'] ?? '').split(',')).toHaveLength(machines.length);
    const again = await ended(await given(), 'load-test-filter', [], { outputs: ['load-tested'], share: 0.2 });
    expect(again.outputs).toEqual(outputs);
  });

  test('check-and-prefetch does not look at tasks under load test', async () => {
    const fleet = await given({ errorRatio: 0.2 });
    const tasks = Array.from({ length: 40 }, (_, slot) => `kvstore-x/${slot}/1`).join(',');
    const filtered = { ...executable('1', 'config'), metadata: { tasks } };
    expect(await ended(fleet, 'check-and-prefetch', [filtered])).toMatchObject({ state: 'succeeded' });
  });

  test('check-and-prefetch lets the next jobs fetch what they will get, unless an alert is up', async () => {
    const next = { 'kvstore-x': 'image' };
    const image = { ...executable('kv:2'), name: 'image' };
    // To fetch a version again has no effect.
    const fetched = async (fleet: TestFleet) => {
      await fleet.twine('prefetch', { targets: [{ unit: 'kvstore-x', version: 'kv:2', artifacts: [] }] });
      const ledger = (await fleet.control('GET', '/ledger')) as { method: string; effect: boolean }[];
      return ledger.find(({ method }) => method === 'prefetch')?.effect === false;
    };
    const calm = await given();
    expect(await ended(calm, 'check-and-prefetch', [image], { next })).toMatchObject({
      state: 'succeeded',
      message: 'no alert on 1 jobs; 1 jobs fetch what comes next',
    });
    expect(await fetched(calm)).toBe(true);
    const alarmed = await given({ errorRatio: 0.2 });
    expect(await ended(alarmed, 'check-and-prefetch', [image], { next })).toMatchObject({ state: 'failed' });
    expect(await fetched(alarmed)).toBe(false);
  });

  test('check-and-prefetch is refused for an input that it does not get', async () => {
    const refused = started(await given(), 'check-and-prefetch', [], { next: { 'kvstore-x': 'image' } });
    await expect(refused).rejects.toThrow('with.next.kvstore-x: no input is called image');
  });
});
