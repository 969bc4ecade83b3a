import { serveDataSource, viaApp } from '../../sdk';
import { ensembleController } from '../../examples/controllers/leaderLast';
import { loadController } from '../../examples/controllers/loadAdaptive';
import { shardController } from '../../examples/controllers/shardAware';
import { placeShards } from '../../simulator/controllers/placement';
import { TASK_CONTROLLER_CHECKS, type TaskControllerSubject } from '../../sdk/conform/taskController';
import { describeSuite } from './suite';

const describeTaskController = (name: string, makeSubject: () => Promise<TaskControllerSubject>): void =>
  describeSuite(`task controller ${name}`, TASK_CONTROLLER_CHECKS, makeSubject);

const subject = (app: Parameters<typeof viaApp>[0], count: number) => {
  const tasks = Array.from({ length: count }, (_, slot) => `kv-x/${slot}`);
  return { fetch: viaApp(app), url: 'http://controller', job: 'kv-x', tasks, ops: 'u/0/1' };
};

describeTaskController('shard-aware', async () => {
  const { tasks } = subject({ fetch: () => new Response() }, 12);
  const domains = [0, 1, 2].map((domain) => tasks.filter((_, slot) => slot % 3 === domain));
  return subject(
    shardController(() => placeShards(domains, 100, 1)),
    12,
  );
});

describeTaskController('leader-last', async () => {
  return subject(
    ensembleController(() => ({ members: 5, leader: 'kv-x/2' })),
    5,
  );
});

describeTaskController('load-adaptive', async () => {
  const cpu = (slot: number) => ({ labels: { slot: String(slot) }, points: [[60_000, 0.5] as [number, number]] });
  const metrics = serveDataSource('metrics', {
    query: () => ({ series: Array.from({ length: 20 }, (_, s) => cpu(s)) }),
  });
  const service = { name: 'metrics', url: 'http://metrics', timeoutMs: 1000 };
  const options = { metrics: service, tasksOf: () => 20, limit: 0.7, stepMs: 60_000, now: () => 60_000 };
  return subject(loadController({ ...options, fetch: viaApp(metrics) }), 20);
});
