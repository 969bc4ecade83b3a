import { healthCheckSchema } from '../../domain/spec/health';
import { remoteJudge, serveDataSource, viaApp } from '../../sdk';
import type { SourceRef } from '../../sdk/health/sources';
import { parseRegistry } from '../../settings/registry';
import { createHealthService } from '../../server/hcs/app';

const context = { pipeline: 'kvstore', release: 1, deployId: 'd', actor: 'user:alice', config: {} };
const store = viaApp(
  serveDataSource('store', {
    query: ({ selector, end }) => {
      const tasks = selector.tasks ?? [];
      return Promise.resolve({ series: tasks.map((task) => ({ labels: { task }, points: [[end, 0.01]] })) });
    },
  }),
);

/** A service whose configuration changes while it runs. */
function world() {
  let sources: readonly SourceRef[] = [];
  const config = { problem: null as string | null, readAtMs: 1_700_000_000_000 };
  const hcs = createHealthService({
    sources: () => sources,
    configState: () => config,
    past: { connect: () => Promise.reject(new Error('nobody')), registry: parseRegistry({}, {}), now: () => 0 },
    now: () => 0,
    fetch: store,
  });
  const verdict = async (): Promise<unknown> => {
    const checks = [
      healthCheckSchema.parse({ name: 'errors', metric: 'errors', lookback: 3000, threshold: { above: 0.05 } }),
    ];
    const targets = [{ id: 'x', fresh: ['a'], control: [], before: [] }];
    const request = { checks, targets, baseline: { start: 0, end: 30_000 }, now: 100_000 };
    return (await remoteJudge({ url: 'http://hcs', fetch: viaApp(hcs) })(request, { context })).units[0]?.checks[0];
  };
  const metrics = async (): Promise<string> => (await hcs.request('/metrics')).text();
  return { config, verdict, metrics, changed: (next: readonly SourceRef[]) => void (sources = next) };
}

test('a data source counts from the moment at which the configuration has it, and until it has it no more', async () => {
  const { verdict, metrics, changed } = world();
  expect(await verdict()).toMatchObject({ verdict: 'errored' });
  changed([{ name: 'store', url: 'http://store', timeoutMs: 1_000 }]);
  expect(await verdict()).toMatchObject({ verdict: 'healthy' });
  expect(await metrics()).toContain('conveyor_health_source_queries_total{source="store"} 1\n');
  changed([]);
  expect(await verdict()).toMatchObject({ verdict: 'errored' });
});

test('its metrics say whether the configuration counts, and since when', async () => {
  const { config, metrics } = world();
  expect(await metrics()).toContain('conveyor_config_invalid 0\n');
  config.problem = 'it is not valid';
  expect(await metrics()).toContain('conveyor_config_invalid 1\n');
  expect(await metrics()).toContain('conveyor_config_read_timestamp_seconds 1700000000\n');
});
