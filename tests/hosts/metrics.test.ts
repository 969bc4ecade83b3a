import { Hono } from 'hono';
import type { Host } from '../../push-types/hosts/inventory';
import { addMetrics } from '../../push-types/hosts/metrics';
import { acceptUpdate } from '../../sdk/updates';
import { HostsWorld } from '../builders/hostsFleet';

/** The metrics by which Prometheus follows the tasks of hosts. */

let world: HostsWorld;
beforeEach(async () => {
  world = new HostsWorld({ kv: 3 });
  await world.settle();
  await world.source.learn('new:1', undefined);
});
afterEach(() => world.close());

function serve(): (path: string) => Promise<string> {
  const app = new Hono();
  const known = (name: string): Host => ({
    ...{ name, unit: 'kv', address: name, port: 22, user: undefined, fingerprint: undefined, labels: {}, vars: {} },
  });
  addMetrics(app, {
    fleet: world.fleet,
    hosts: () => (world.units.get('kv') ?? []).map(known),
    locate: ({ name }) => (name === 'kv-3' ? undefined : { target: `${name}:9100`, path: '/metrics' }),
    inventoryAge: () => 12,
  });
  return async (path) => (await app.request(path)).text();
}

const pick = (text: string, name: string): string[] =>
  text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));

function update(updateId: string, count: number): void {
  const target = { unit: 'kv', version: 'new:1', artifacts: [], amount: { count } };
  const parts = { state: world.fleet.state, copies: { hasVersion: () => true } };
  acceptUpdate(parts, { updateId, targets: [target], wholeUnit: false, urgency: 'normal' });
  world.fleet.memory.save();
}

test('each task has its version, its state and the label that checks of moved targets need', async () => {
  update('deploy/kv/1/deploy/1/0/1', 1);
  await world.settle();
  const text = await serve()('/metrics');
  const live = pick(text, 'conveyor_host_task_live');
  expect(live.map((line) => /host="([^"]+)",version="([^"]+)"} (\d)$/.exec(line)?.slice(1))).toEqual([
    ['kv-1', 'new:1', '1'],
    ['kv-2', 'kv:1', '1'],
    ['kv-3', 'kv:1', '1'],
  ]);
  expect(live.every((line) => /\{task="kv-\d[^"]*",unit="kv"/.test(line))).toBe(true);
  expect(pick(text, 'conveyor_hosts_inventory_age_seconds')).toEqual(['conveyor_hosts_inventory_age_seconds 12']);
});

test('a host that does not answer has 0 as reachable, and its application is not scraped', async () => {
  world.host('kv-2').isSilent = true;
  await world.settle();
  const get = serve();
  const reachable = pick(await get('/metrics'), 'conveyor_host_reachable').map((line) => line.slice(-1));
  expect(reachable).toEqual(['1', '0', '1']);
  const targets: { targets: string[]; labels: Record<string, string> }[] = JSON.parse(await get('/targets'));
  expect(targets.map(({ targets: [target], labels }) => [target, labels['host'], labels['version']])).toEqual([
    ['kv-1:9100', 'kv-1', 'kv:1'],
  ]);
});
