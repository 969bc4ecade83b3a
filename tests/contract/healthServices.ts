import { parseRegistry } from '../../settings/registry';
import { viaApp } from '../../sdk/client';
import type { HealthServiceSubject } from '../../sdk/conform/healthService';
import { serveDataSource } from '../../sdk/server';
import { createHealthService } from '../../server/hcs/app';
import { NOW } from '../builders/cliSamples';

/** Our Health Check Service, over a data source in which both tasks give one sample a minute of one metric. */
export function givenHealthService(): HealthServiceSubject {
  const store = serveDataSource('metrics', {
    query: ({ metric, selector, start, end }) => {
      const times = Array.from({ length: 5 }, (_, nth) => end - nth * 60_000).filter((at) => at >= start);
      const points = metric === 'errors' ? times.reverse().map((at): [number, number] => [at, 0.01]) : [];
      return { series: (selector.tasks ?? []).map((task) => ({ labels: { task }, points })) };
    },
  });
  const app = createHealthService({
    sources: () => [{ name: 'metrics', url: 'http://store', timeoutMs: 1_000 }],
    now: () => 0,
    past: { connect: () => Promise.reject(new Error('no Temporal')), registry: parseRegistry({}, {}), now: () => NOW },
    fetch: viaApp(store),
  });
  const ours = { fetch: viaApp(app), url: 'http://hcs', metric: 'errors' };
  return { ...ours, tasks: ['kv-x/0/1', 'kv-y/0/1'], now: NOW, source: 'metrics' };
}
