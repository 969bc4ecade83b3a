import type { Invoke, PushPorts } from '../../activities/pushCalls';
import { trackUnits } from '../../activities/tracking';
import { everyUnit } from '../../domain/deploy/snapshot';
import type { UnitProgress } from '../../domain/fleet/unit';

const CALL = {
  ...{ pushType: 'config', pipeline: 'feed', release: 1, deployId: 'deploy/feed/1/deploy/1', actor: 'user:alice' },
  config: {},
};
const unit = (id: string) => ({ id, labels: {}, size: 2, version: null, mixed: false, available: true });
const progress = (id: string, more: Partial<UnitProgress> = {}): UnitProgress => ({
  ...{ id, state: 'updating', targeted: 2, updated: 0, live: 0, failed: 0, unreachable: 0, gone: 0 },
  ...more,
});

const tracked = async (...units: UnitProgress[]) => {
  const all = units.map(({ id }) => unit(id));
  const ports = { snapshots: { read: async () => all } } as unknown as PushPorts;
  const invoke = (async () => ({ units })) as unknown as Invoke;
  const selection = everyUnit({ units: all }, []);
  return (await trackUnits(ports, invoke, CALL, { updateIds: ['u'], selection, success: { all: true } })).tracked;
};

test('an update that waits for its turn says why, and after how many others it is', async () => {
  const of = (change: number, ahead: number) => ({ reason: `change ${change} waits to land`, ahead });
  const { waits } = await tracked(progress('eu', of(7, 3)), progress('us', of(8, 12)), progress('asia'));
  expect(waits).toEqual({ reason: 'change 8 waits to land', ahead: 12 });
});

test('a reason without a turn is no wait', async () => {
  expect(await tracked(progress('eu', { reason: 'a task did not come up' }))).not.toHaveProperty('waits');
});
