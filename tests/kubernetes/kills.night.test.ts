import type { KubernetesApi } from '../../push-types/kubernetes/client/api';
import { WORKLOAD_KINDS, type WorkloadKind } from '../../push-types/kubernetes/settings';
import { KubeDeploys } from '../builders/kubeDeploys';
import { KubeWorld } from '../builders/kubeWorld';

/** The push type dies after every single request that changes something, before or after the request arrives. */

const SIZE = 3;
class KilledError extends Error {}

interface Killer {
  /** Whether the request of this number was reached. */
  isOver: boolean;
}

/** Kills the push type at its nth change of the cluster; a dead one sends nothing more. */
function killAt(world: KubeWorld, nth: number, isAfter: boolean): Killer {
  const killer: Killer = { isOver: false };
  let count = 0;
  const guard = async <T>(send: () => Promise<T>): Promise<T> => {
    if (killer.isOver) throw new KilledError();
    count += 1;
    if (count !== nth) return send();
    killer.isOver = true;
    if (isAfter) await send();
    throw new KilledError();
  };
  world.wrap = (api: KubernetesApi): KubernetesApi => ({
    ...api,
    patch: (ref, patch, options) => guard(() => api.patch(ref, patch, options)),
    remove: (ref, options) => guard(() => api.remove(ref, options)),
  });
  return killer;
}

/** Follows an update as a deploy does: the push type begins anew when it dies, and an update that has ended is sent again. */
async function follow(
  world: KubeWorld,
  deploys: KubeDeploys,
  send: (id: string) => Promise<unknown>,
  isLost: boolean,
): Promise<string[]> {
  const sent = [deploys.nameUpdate('0')];
  for (let round = 0; round < 150; round += 1) {
    const id = sent.at(-1) ?? '';
    const progress = await deploys.track(id).catch(() => undefined);
    if (progress === undefined) await send(id);
    else if (progress.state === 'done') return sent;
    else if (progress.state === 'failed') sent.push(deploys.nameUpdate('0'));
    await world.step().catch((error: unknown) => {
      if (!(error instanceof KilledError)) throw error;
      world.wrap = (api) => api;
      if (isLost) world.lose();
      else world.open();
    });
  }
  throw new Error(`the update does not end\n${world.logged.join('\n')}`);
}

let world: KubeWorld | undefined;
afterEach(() => world?.close());

async function demandWhole(made: KubeWorld, image: string, before: Readonly<Record<string, number>>): Promise<void> {
  await made.settle();
  expect(await made.images('web')).toEqual(Array(SIZE).fill(image));
  expect(await made.templateImage('web')).toBe(image);
  // The same pods, each restarted once.
  expect(await made.lives('web')).toEqual(
    Object.fromEntries(Object.entries(before).map(([uid, count]) => [uid, count + 1])),
  );
  const { metadata, spec } = await made.workload('web');
  expect(metadata.annotations).not.toHaveProperty(['conveyor.dev/completion']);
  expect((spec as { paused?: boolean }).paused ?? false).toBe(false);
}

const STORIES = WORKLOAD_KINDS.flatMap((kind) =>
  (['keeps its memory', 'loses its memory'] as const).map((memory) => [kind, memory] as const),
);

describe('a push type that dies at any request to the cluster', () => {
  test.each(STORIES)(
    'completes a %s in the end, and restarts each pod once, when it %s',
    async (kind: WorkloadKind, memory) => {
      world = await KubeWorld.make({ kind, workloads: { web: SIZE } });
      const isLost = memory === 'loses its memory';
      for (let nth = 1; nth < 40; nth += 1) {
        const deploys = new KubeDeploys(world, nth);
        const version = `kv:${nth + 1}`;
        const before = await world.lives('web');
        const killer = killAt(world, nth, nth % 2 === 0);
        await follow(world, deploys, (id) => deploys.push('web', version, { whole: true, id }), isLost);
        await demandWhole(world, version, before);
        if (!killer.isOver) {
          expect(nth).toBeGreaterThan(SIZE + 3);
          return;
        }
      }
      throw new Error('a completion takes more requests than expected');
    },
    600_000,
  );

  test.each(WORKLOAD_KINDS)(
    'reverts a completed %s in the end, and restarts each pod once',
    async (kind) => {
      world = await KubeWorld.make({ kind, workloads: { web: SIZE } });
      for (let nth = 1; nth < 40; nth += 1) {
        const deploys = new KubeDeploys(world, nth);
        world.wrap = (api) => api;
        const forward = await follow(world, deploys, (id) => deploys.push('web', 'kv:2', { whole: true, id }), false);
        await world.settle();
        const before = await world.lives('web');
        const killer = killAt(world, nth, nth % 2 === 1);
        await follow(world, deploys, (id) => deploys.push('web', 'kv:1', { updatedBy: forward, id }), nth % 3 === 0);
        await demandWhole(world, 'kv:1', before);
        if (!killer.isOver) return;
      }
      throw new Error('a revert takes more requests than expected');
    },
    600_000,
  );
});
