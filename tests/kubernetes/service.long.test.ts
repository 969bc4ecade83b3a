import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { loadClustersFile } from '../../push-types/kubernetes/loadClusters';
import { openKubernetesService, type KubernetesService } from '../../push-types/kubernetes/service';
import { viaApp } from '../../sdk/client';
import { KubeDeploys } from '../builders/kubeDeploys';
import { KubeWorld } from '../builders/kubeWorld';

/** The whole push type with its file of clusters, watches and its own rounds, as `conveyor push-type kubernetes` runs it. */

const folder = mkdtempSync(join(tmpdir(), 'conveyor-clusters-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function writeClusters(file: object, server = 'http://127.0.0.1:1'): string {
  const kubeconfig = {
    'current-context': 'fake',
    clusters: [{ name: 'fake', cluster: { server } }],
    contexts: [{ name: 'fake', context: { cluster: 'fake' } }],
  };
  writeFileSync(join(folder, 'kubeconfig'), stringify(kubeconfig));
  const path = join(folder, 'clusters.yaml');
  writeFileSync(path, stringify(file));
  return path;
}

const open = (clusters: string, signal: AbortSignal): KubernetesService =>
  openKubernetesService({
    ...{ clusters, home: join(folder, 'home'), prometheus: undefined, token: undefined, env: {}, signal },
    log: () => undefined,
  });

test('deploys to a cluster of a kubeconfig, and judges crashes by the restarts that it saw', async () => {
  const world = await KubeWorld.make({ kind: 'Deployment', workloads: { web: 3 } });
  const ending = new AbortController();
  const file = { clusters: { 'eu-1': { kubeconfig: 'kubeconfig' } }, allowTags: true, interval: '50ms' };
  const service = open(writeClusters(file, world.cluster.server.url), ending.signal);
  const running = service.run();
  try {
    expect(service.clusters).toEqual(['eu-1']);
    world.serve = () => viaApp(service.app);
    const deploys = new KubeDeploys(world);
    expect((await deploys.call('validateConfig', { version: 'kv:2', artifacts: [] })).problems).toEqual([]);
    const id = await deploys.push('web', 'kv:2', { whole: true });
    await world.until('the update is done', async () => (await deploys.track(id))?.state === 'done', 60_000);
    expect([await world.images('web'), await world.templateImage('web')]).toEqual([['kv:2', 'kv:2', 'kv:2'], 'kv:2']);
    const now = Date.now();
    const check = {
      name: 'crashes',
      metric: 'system.crashes',
      threshold: { above: 0 },
      scope: 'unit',
      lookback: 60_000,
    };
    const { units } = await deploys.call('runHealthChecks', {
      ...{ targets: { units: [world.unit('web')], updatedBy: [id] }, checks: [check as never], now },
      baseline: { start: now - 120_000, end: now - 60_000 },
    });
    expect(units[0]?.checks.map(({ verdict }) => verdict)).not.toContain('unhealthy');
  } finally {
    ending.abort();
    await running;
    await world.close();
  }
}, 120_000);

test.each([
  ['without a cluster', { clusters: {} }, 'expected a cluster'],
  ['with an unknown field', { clusters: { a: { inCluster: true, token: 'x' } } }, 'clusters.a'],
  ['of a cluster without an access', { clusters: { a: { labels: {} } } }, 'expected kubeconfig, or inCluster: true'],
])('a file %s is refused with its place', (_, file, message) => {
  expect(() => loadClustersFile(writeClusters(file))).toThrow(message);
});

test('a context that a kubeconfig lacks is named at start', () => {
  const file = { clusters: { a: { kubeconfig: 'kubeconfig', context: 'us' } } };
  expect(() => open(writeClusters(file), new AbortController().signal)).toThrow(/no context us/);
});
