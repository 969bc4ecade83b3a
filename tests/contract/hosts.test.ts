import { hostsPushType } from '../../push-types/hosts/pushType';
import { viaApp } from '../../sdk/client';
import { PUSH_TYPE_CHECKS } from '../../sdk/conform/pushType/suite';
import { judgeTargets } from '../../sdk/health';
import type { Balancer } from '../../push-types/hosts/balancer';
import { HostsWorld } from '../builders/hostsFleet';
import { describeSuite } from './suite';

/** The push type `hosts`, with hosts in memory. They move only when a test lets them: one step at a time. */

const SIZE = 6;
const worlds: HostsWorld[] = [];
afterAll(() => worlds.forEach((world) => world.close()));

/** A load balancer that obeys at once. */
const makeBalancer = (): Balancer => {
  const out = new Set<string>();
  return {
    drain: (host) => Promise.resolve(void out.add(host)),
    undrain: (host) => Promise.resolve(void out.delete(host)),
    listOut: () => Promise.resolve(out),
    setWeights: () => Promise.resolve(),
  };
};

const suiteOf = async (balancer?: Balancer) => {
  const world = new HostsWorld({ 'kv-x': SIZE, 'kv-y': SIZE }, balancer && { balancer });
  worlds.push(world);
  await world.settle();
  const units = ['kv-x', 'kv-y'] as const;
  const app = hostsPushType(world.fleet, {
    ...{ service: 'kv', packages: world.source, labels: () => ({}), canShift: balancer !== undefined },
    judge: (request) => judgeTargets({ ...request, query: () => Promise.resolve({ series: [] }) }),
  });
  return {
    ...{ fetch: viaApp(app), url: 'http://hosts' },
    ...{ config: { units: [...units] }, units, sizes: [SIZE, SIZE] as const, version: 'kv:1' },
    newVersions: ['new:1', 'new:2'] as const,
    ...{ deadVersion: 'dead:1', pipeline: 'kvstore', release: 12 },
    now: Date.now,
    tick: async () => void (await Promise.all(world.fleet.unitNames.map((unit) => world.fleet.step(unit)))),
    settle: () => world.settle(),
    grow: (unit: string) => {
      world.join(unit);
      world.list();
      return Promise.resolve();
    },
  };
};
describeSuite('push type hosts', PUSH_TYPE_CHECKS, () => suiteOf(), ['pages', 'shiftTraffic']);
describeSuite('push type hosts with a load balancer', PUSH_TYPE_CHECKS, () => suiteOf(makeBalancer()), ['pages']);
