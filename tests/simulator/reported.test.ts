import { callExtension, viaApp } from '../../sdk/client';
import { dataSourceProtocol, type Series } from '../../sdk/protocol/dataSource';
import { REPORTED_LIMITS } from '../../simulator/metrics/reported';
import { expectNoViolations, givenFleet, type TestFleet } from '../builders/simulatorFleet';

afterEach(expectNoViolations);

const METRIC = 'rpc.error_ratio';

const reports = (fleet: TestFleet, ...points: readonly (readonly [string, number])[]): Promise<unknown> =>
  fleet.control('POST', '/metrics', { points: points.map(([task, value]) => ({ task, metric: METRIC, value })) });

/** The answer to a health check about hosts of the configuration. */
async function measured(fleet: TestFleet, ...tasks: readonly string[]): Promise<readonly Series[]> {
  const selector = { unit: 'flags/feed:eu', tasks: [...tasks] };
  const window = { start: fleet.now() - 600_000, end: fleet.now(), step: 60_000 };
  const service = { name: 'metrics', url: 'http://simulator/data-source', timeoutMs: 1000 };
  const context = { pipeline: 'feed', release: 1, deployId: 'd', actor: 'user:alice', config: {} };
  const request = { metric: METRIC, selector, ...window };
  const call = { service, protocol: dataSourceProtocol, method: 'query', fetch: viaApp(fleet.app) } as const;
  return (await callExtension({ ...call, request, context })).series;
}

test('hosts that are no part of the world are answered for with what they reported, each by what it had', async () => {
  const fleet = givenFleet();
  await reports(fleet, ['web-1@c1', 0], ['web-2@c1', 0.1]);
  fleet.pass(60_000);
  await reports(fleet, ['web-1@2@c2', 0.5]);
  const now = fleet.now();
  expect(await measured(fleet, 'web-1@c1', 'web-1@2@c2', 'web-9@c1')).toEqual([
    { labels: { task: 'web-1@c1' }, points: [[now - 60_000, 0]] },
    { labels: { task: 'web-1@2@c2' }, points: [[now, 0.5]] },
  ]);
});

test('the newest points of the tasks that reported last are kept, and no more', async () => {
  const fleet = givenFleet();
  const { tasks, points, together } = REPORTED_LIMITS;
  const names = Array.from({ length: tasks + 1 }, (_, at) => `h${at}@c`);
  for (let at = 0; at < names.length; at += together)
    await reports(fleet, ...names.slice(at, at + together).map((name) => [name, 1] as const));
  expect((await measured(fleet, 'h0@c', 'h1@c', `h${tasks}@c`)).map(({ labels }) => labels['task'])).toEqual([
    'h1@c',
    `h${tasks}@c`,
  ]);
  await reports(fleet, ...Array.from({ length: points + 1 }, (_, at) => ['h1@c', at] as const));
  const [series] = await measured(fleet, 'h1@c');
  expect([series?.points.length, series?.points[0]?.[1], series?.points.at(-1)?.[1]]).toEqual([points, 1, points]);
});
