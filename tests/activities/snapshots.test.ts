import type { Client } from '@temporalio/client';
import { createSnapshotStore, readHeld } from '../../activities/snapshots';
import { buildHeldUnits } from '../../domain/deploy/heldUnits';
import type { SnapshotUnit } from '../../domain/deploy/snapshot';

const units = (count: number, nameChars: number): SnapshotUnit[] =>
  Array.from({ length: count }, (_, n) => ({
    ...{ id: `prod-${String(n).padStart(nameChars, '0')}`, labels: {}, size: 1, version: 'kv:1' },
    ...{ available: true, mixed: false },
  }));

/** Temporal, which keeps the input of each workflow until it forgets them. */
function temporal() {
  const inputs = new Map<string, unknown>();
  const client = {
    options: { namespace: 'default', loadedDataConverter: { payloadConverter: PLAIN, payloadCodecs: [] } },
    workflow: {
      start: async (_type: string, { workflowId, args }: { workflowId: string; args: readonly unknown[] }) =>
        void inputs.set(workflowId, args[0]),
    },
    workflowService: {
      getWorkflowExecutionHistory: async ({ execution }: { execution: { workflowId: string } }) => {
        const page = inputs.get(execution.workflowId);
        if (page === undefined) throw Object.assign(new Error('not found'), { code: 5 });
        return { history: { events: [{ workflowExecutionStartedEventAttributes: { input: { payloads: [page] } } }] } };
      },
    },
  } as unknown as Client;
  // A store keeps pages in memory: another worker has none.
  const worker = () => createSnapshotStore({ client, taskQueue: 'q' });
  return { inputs, worker };
}

const PLAIN = { fromPayload: (payload: unknown) => payload };

test.each<[string, SnapshotUnit[], expected: { carried: boolean; pages: number }]>([
  ['a few units', units(20, 20), { carried: true, pages: 0 }],
  ['units with long names', units(60, 80), { carried: true, pages: 1 }],
  ['many units', units(400, 20), { carried: false, pages: 1 }],
])('which of %s a deploy held stays known to its pipeline', async (_what, all, { carried, pages }) => {
  const { inputs, worker } = temporal();
  const snapshot = await worker().write('deploy/kvstore/1/deploy/1', all);
  expect(['units' in snapshot, inputs.size]).toEqual([carried, pages]);
  expect(await worker().read(snapshot)).toEqual(all);
  const held = buildHeldUnits(snapshot, ['prod-1']);
  expect(await readHeld(worker(), held)).toEqual(all.map(({ id }) => id));
  expect(JSON.stringify(held).length).toBeLessThan(5_000);
});

test('once Temporal has forgotten them, those of the rules stay known', async () => {
  const { inputs, worker } = temporal();
  const held = buildHeldUnits(await worker().write('deploy/kvstore/1/deploy/1', units(400, 20)), ['prod-1']);
  inputs.clear();
  expect(await readHeld(worker(), held)).toEqual(['prod-1']);
});
