import type { CheckEvidence } from '../../../domain/health/verdict';
import type { HealthCheck } from '../../../domain/spec/health';
import { parsePipelineValue } from '../../../domain/spec/parse';
import type { PipelineSource } from '../../../domain/spec/pipeline';
import { definePipeline } from '../../../domain/spec/written';
import { STANDARD_CHECKS } from '../../../domain/spec/standardChecks';
import type { BehaviourSpec } from '../../../simulator/metrics/behaviour';
import { expectNoViolations, givenFleet, START, update } from '../../builders/simulatorFleet';

afterEach(expectNoViolations);

const MINUTE = 60_000;
const UPDATE = 'deploy/p/1/d/1/0/1';

type Deploy = Extract<PipelineSource['actions'][string], { type: 'deploy' }>['with'];

const parsed = (...healthChecks: NonNullable<Deploy['healthChecks']>) =>
  parsePipelineValue(
    definePipeline({
      pipeline: 'web',
      owners: ['user:alice'],
      artifacts: { executable: { finder: 'manual' } },
      actions: { deploy: { type: 'deploy', inputs: ['executable'], with: { pushType: 'twine', healthChecks } } },
    }),
  );

function checksOf(...written: NonNullable<Deploy['healthChecks']>): readonly HealthCheck[] {
  const { spec, problems } = parsed(...written);
  expect(problems).toEqual([]);
  const deploy = spec?.actions['deploy'];
  return deploy?.type === 'deploy' ? deploy.with.healthChecks : [];
}

/** Half of six tasks on kv:2, eleven minutes ago; what a ready check says of them. */
async function judged(name: string, bad: BehaviourSpec): Promise<CheckEvidence> {
  const fleet = givenFleet();
  await fleet.job('kvstore-x', { nSmall: 3, budget: 3 });
  await fleet.behaves('kv:2', bad);
  await fleet.twine('executeUpdates', update(UPDATE, 'kvstore-x', 'kv:2', { amount: { count: 3 } }));
  if (bad.crashOnStart) {
    // Tasks that do not start are fixed in the end, so there are tasks to judge.
    fleet.pass(MINUTE / 2);
    await fleet.behaves('kv:2', {});
  }
  fleet.pass(bad.crashOnStart ? 2 * MINUTE : 11 * MINUTE);
  const { body } = await fleet.twine('runHealthChecks', {
    targets: { units: ['kvstore-x'], updatedBy: [UPDATE] },
    checks: checksOf({ uses: `standard/${name}` }),
    baseline: { start: START - 10 * MINUTE, end: START },
    now: fleet.now(),
  });
  const { units, deploy } = body as unknown as {
    units: { checks: CheckEvidence[] }[];
    deploy: { checks: CheckEvidence[] };
  };
  return [...units.flatMap(({ checks }) => checks), ...deploy.checks].find((evidence) => evidence.name === name)!;
}

const FAULTS: Readonly<Record<string, BehaviourSpec>> = {
  'rpc-errors': { errorRatio: 0.2 },
  'rpc-latency': { latencyFactor: 1.5 },
  'log-errors': { errorRatio: 0.02 },
  'rpc-latency-before': { latencyFactor: 1.5 },
  connections: { connectionsFactor: 0.5 },
  cpu: { cpuFactor: 1.5 },
  memory: { memoryLeakMbPerMinute: 50 },
  crashes: { crashOnStart: true },
  engagement: { engagementFactor: 0.8 },
};

describe.each(Object.keys(STANDARD_CHECKS))('standard/%s', (name) => {
  test('is healthy on a version of the simulated fleet that does well', async () => {
    expect(await judged(name, {})).toMatchObject({ verdict: 'healthy' });
  });

  test('is unhealthy on one with the fault that it is for', async () => {
    expect(await judged(name, FAULTS[name]!)).toMatchObject({ verdict: 'unhealthy' });
  });
});

test('fields of a check beside uses replace those of the ready one', () => {
  const [errors, strict, orders] = checksOf(
    { uses: 'standard/rpc-errors' },
    { uses: 'standard/rpc-errors', name: 'strict', threshold: { above: 0.01 }, for: '5m' },
    { uses: 'standard/engagement', name: 'orders', metric: 'app.orders' },
  );
  expect(errors).toMatchObject({ name: 'rpc-errors', metric: 'rpc.error_ratio', transform: [{ average: 3 * MINUTE }] });
  expect(strict).toEqual({ ...errors, name: 'strict', threshold: { above: 0.01 }, for: 5 * MINUTE });
  expect(orders).toMatchObject({ name: 'orders', metric: 'app.orders', compare: 'before', onUnhealthy: 'pause' });
});

test('behind the file a ready check looks like any other', () => {
  const whole = { name: 'cpu', metric: 'system.cpu', transform: [{ average: '3m' }], minSamples: 3 };
  const compared = { compare: 'control' as const, threshold: { increase: '20%' } };
  expect(checksOf({ uses: 'standard/cpu' })).toEqual(checksOf({ ...whole, ...compared }));
});

test('with a limit of its own a check that compared compares no more', () => {
  const [cpu] = checksOf({ uses: 'standard/cpu', threshold: { above: 0.8 } });
  expect(cpu).toMatchObject({ threshold: { above: 0.8 }, reduce: 'mean', minSamples: 3 });
  expect(cpu).not.toHaveProperty('compare');
});

test('an override is checked as any check is', () => {
  const codes = parsed(
    { uses: 'standard/rpc-errors', threshold: { increase: '5%' } },
    { uses: 'standard/cpu', lookback: 'soon' },
    { uses: 'standard/cpu', trasform: [] } as never,
  ).problems.map(({ path, code, hint }) => [path, code, hint]);
  expect(codes).toEqual([
    ['actions.deploy.with.healthChecks[0].compare', 'invalid-value', 'add compare: control, before or { version }'],
    [
      'actions.deploy.with.healthChecks[1].lookback',
      'invalid-value',
      'expected a duration such as 90s, 10m, 8h or 14d',
    ],
    ['actions.deploy.with.healthChecks[2].trasform', 'unknown-key', 'did you mean transform?'],
    [
      'actions.deploy.with.healthChecks[2].name',
      'duplicate-check',
      'give each check a name of its own: people skip checks by name',
    ],
  ]);
});
