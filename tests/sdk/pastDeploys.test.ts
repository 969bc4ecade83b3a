import { conveyorError } from '../../domain/errors';
import { toPastDeploy, type PastDeploy } from '../../domain/health/pastDeploy';
import { listDeployActions } from '../../domain/spec/deployActions';
import { parsePipeline } from '../../domain/spec/parse';
import { healthCheckSchema } from '../../domain/spec/health';
import type { DeployStatus } from '../../domain/views';
import type { Fetch } from '../../sdk/request';
import { backtestChecks } from '../../sdk/health/backtest';
import { pastTicks } from '../../sdk/health/pastTicks';
import { BACKTEST_PIPELINE } from '../builders/backtestWorld';
import { pastRelease, through } from '../builders/historyRows';
import { givenFleet, START, update } from '../builders/simulatorFleet';

const MINUTE = 60_000;
const time = (minute: number): string => new Date(START + minute * MINUTE).toISOString();
const CHECK = healthCheckSchema.parse({ name: 'errors', metric: 'rpc.error_ratio', threshold: { above: 0.05 } });
const SERVICE = { name: 'twine', url: 'http://fleet', timeoutMs: 1_000 };

type Phase = Partial<Record<'startedAt' | 'updatedAt' | 'bakedAt', string>>;

/** A deploy of two units that ended an hour after the start. */
function deployOf(phases: readonly Phase[], more: Partial<DeployStatus> = {}): PastDeploy | null {
  const [[, action]] = listDeployActions(parsePipeline(BACKTEST_PIPELINE).spec!) as [
    ReturnType<typeof listDeployActions>[0],
  ];
  const units = [{ id: 'kvstore-x', targeted: 3, updated: 3, live: 3 }];
  const status = {
    ...{ id: 'kvstore/1/deploy', pushType: 'twine', attempt: 1, updates: ['u'], revert: null, endedAt: time(60) },
    phases: phases.map((phase) => ({ startedAt: null, updatedAt: null, bakedAt: null, ...phase, units })),
    ...more,
  } as unknown as DeployStatus;
  const truth = { kind: 'good', why: 'succeeded', foundBy: null, overridden: [] } as const;
  return toPastDeploy(pastRelease(1, [through('kv:1')]), 'deploy', action.with, status, truth);
}

const given = (until: number): PastDeploy =>
  deployOf([{ startedAt: time(0), updatedAt: time(1), bakedAt: time(until) }])!;

/** A push type that finds nothing wrong, but for the calls that the test answers itself; counted from 1. */
function pushType(answer: (nth: number) => Response | undefined = () => undefined) {
  let calls = 0;
  const fetch: Fetch = () => {
    calls += 1;
    return Promise.resolve(answer(calls) ?? Response.json({ units: [], deploy: { checks: [] } }));
  };
  return { fetch, calls: () => calls };
}

test('a phase without a bake is seen until the next one begins', () => {
  const past = deployOf([
    { startedAt: time(0), updatedAt: time(5) },
    { startedAt: time(10), updatedAt: time(15), bakedAt: time(30) },
    { startedAt: time(31), updatedAt: time(40) },
  ]);
  const at = (minute: number) => START + minute * MINUTE;
  expect(past?.bakes).toEqual([
    { updatedAt: at(5), until: at(10) },
    { updatedAt: at(15), until: at(30) },
    { updatedAt: at(40), until: at(60) },
  ]);
});

test('a deploy is asked about at the push type that it had then', () => {
  const phases = [{ startedAt: time(0), updatedAt: time(1), bakedAt: time(5) }];
  expect(deployOf(phases, { pushType: 'hosts' })?.pushType).toBe('hosts');
});

test('a bake of weeks, such as a paused one, is asked for in a thousand evaluations', async () => {
  const { fetch } = pushType();
  const ticks = await pastTicks(given(40 * 24 * 60), [CHECK], SERVICE, { fetch });
  expect(ticks).toHaveLength(1_000);
  expect(ticks.at(-1)?.at).toBe(START + 40 * 24 * 60 * MINUTE);
});

test('a recording with wrong times is skipped quickly', async () => {
  const side = { tasks: 0, series: [] };
  const recording = { ...{ fresh: side, control: side, before: side }, updatedAt: START / 1000, until: START };
  const labels = [{ name: 'in seconds', bad: true, recording: { ...recording, baseline: { start: 0, end: 0 } } }];
  const ask = () => Promise.resolve([]);
  const [answer] = await backtestChecks({ checks: [CHECK], deploys: [], labels, ask });
  expect(answer?.tried[0]?.result).toBe('unknown');
  expect(answer?.tried[0]?.evaluations.length).toBeLessThanOrEqual(1_000);
});

test('a call that fails once is made again', async () => {
  const { fetch, calls } = pushType((nth) => (nth === 7 || nth === 8 ? new Response('', { status: 500 }) : undefined));
  expect(await pastTicks(given(11), [CHECK], SERVICE, { fetch, waitsMs: [0, 0] })).toHaveLength(10);
  expect(calls()).toBe(12);
});

test('a query that fails each time, or is refused, ends with its reason', async () => {
  const down = pushType(() => new Response('', { status: 500 }));
  const ask = ({ fetch }: { fetch: Fetch }) => pastTicks(given(11), [CHECK], SERVICE, { fetch, waitsMs: [0, 0] });
  await expect(ask(down)).rejects.toMatchObject({ code: 'extension-unavailable' });
  expect(down.calls()).toBe(3);
  const refusing = pushType(() => new Response('', { status: 400 }));
  await expect(ask(refusing)).rejects.toMatchObject({ code: 'extension-rejected' });
  expect(refusing.calls()).toBe(1);
});

test('a deploy whose unit is gone is not counted, and says so; where all are refused, that is the answer', async () => {
  const refusal = conveyorError('extension-rejected', {
    ...{ service: 'twine', method: 'runHealthChecks', status: 404, detail: 'no job kvstore-z' },
  });
  const [here, gone] = [given(5), { ...given(5), id: 'kvstore/2/deploy' }];
  const ask = ({ id }: PastDeploy) => (id === gone.id ? Promise.reject(refusal) : Promise.resolve([]));
  const [answer] = await backtestChecks({ checks: [CHECK], deploys: [here, gone], labels: [], ask });
  expect(answer?.tried[1]).toMatchObject({ result: 'unknown', why: expect.stringContaining('no job kvstore-z') });
  await expect(backtestChecks({ checks: [CHECK], deploys: [gone], labels: [], ask })).rejects.toBe(refusal);
});

test('a fleet that has forgotten the updates of a deploy does not take all tasks for updated', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x');
  await fleet.twine('executeUpdates', update('known', 'kvstore-x', 'kv:2'));
  fleet.pass(30 * MINUTE);
  const judged = async (updatedBy: string) =>
    (
      await fleet.twine('runHealthChecks', {
        ...{ targets: { units: ['kvstore-x'], updatedBy: [updatedBy] }, checks: [CHECK] },
        ...{ baseline: { start: START, end: START }, now: START + 20 * MINUTE },
      })
    ).body.units as unknown as { checks: object[] }[];
  expect((await judged('known'))[0]?.checks).toHaveLength(1);
  expect((await judged('forgotten'))[0]?.checks).toEqual([]);
});
