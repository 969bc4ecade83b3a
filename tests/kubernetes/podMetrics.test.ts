import { Hono } from 'hono';
import { addPodMetrics } from '../../push-types/kubernetes/podMetrics';
import { KubeDeploys } from '../builders/kubeDeploys';
import { KubeWorld } from '../builders/kubeWorld';

let world: KubeWorld;
afterEach(() => world.close());

async function readMetrics(): Promise<string[]> {
  const app = new Hono();
  addPodMetrics(app, world.fleet);
  const answer = await app.request('/metrics');
  expect(answer.headers.get('content-type')).toContain('version=0.0.4');
  return (await answer.text()).split('\n');
}

const values = (lines: readonly string[], name: string): string[] =>
  lines.filter((line) => line.startsWith(`${name}{`)).map((line) => line.slice(line.lastIndexOf(' ') + 1));

test('each pod has a row with its task and version, which changes with an update', async () => {
  world = await KubeWorld.make({ kind: 'Deployment', workloads: { web: 2 } });
  const deploys = new KubeDeploys(world);
  expect(values(await readMetrics(), 'conveyor_pod_task_live')).toEqual([]);
  await deploys.push('web', 'kv:2', { count: 1 });
  await world.settle();
  const lines = await readMetrics();
  expect(values(lines, 'conveyor_pod_task_live')).toEqual(['1', '1']);
  expect(values(lines, 'conveyor_pod_restarts_total').sort()).toEqual(['0', '1']);
  expect(
    lines.filter((line) =>
      /^conveyor_pod_task_live\{task="eu-1\/shop\/web-[^"]*@[0-9a-f]{16}",.*version="kv:2"\}/.test(line),
    ),
  ).toHaveLength(1);
  expect(values(lines, 'conveyor_workload_available')).toEqual(['1']);
});

test('pods of a cluster that does not answer are neither live nor reachable', async () => {
  world = await KubeWorld.make({ kind: 'Deployment', workloads: { web: 2 } });
  await new KubeDeploys(world).unit('web');
  world.wrap = (api) => ({ ...api, get: () => Promise.reject(new Error('no route to host')) });
  await world.step();
  const lines = await readMetrics();
  expect(values(lines, 'conveyor_pod_task_live')).toEqual(['0', '0']);
  expect(values(lines, 'conveyor_pod_reachable')).toEqual(['0', '0']);
  expect(values(lines, 'conveyor_workload_available')).toEqual(['0']);
});
