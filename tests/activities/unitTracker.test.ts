import type { Invoke, PushPorts } from '../../activities/pushCalls';
import { trackUnits } from '../../activities/unitTracker';
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

describe('an update of more tasks than its unit has', () => {
  const most = 9e15;
  const looked = async (now: number | null, counts: Partial<UnitProgress>, planned = 4) => {
    const all = ['eu', 'us'].map((id) => ({ ...unit(id), size: planned }));
    const asked: string[] = [];
    const ports = { snapshots: { read: async () => all } } as unknown as PushPorts;
    const invoke = (async (_: unknown, method: string) => {
      asked.push(method);
      if (method === 'trackUpdates') return { units: [progress('eu', counts), progress('us')] };
      return { service: 'feed', units: now === null ? [unit('us')] : [{ ...unit('eu'), size: now }, unit('us')] };
    }) as unknown as Invoke;
    const tracking = { updateIds: ['u'], selection: everyUnit({ units: all }, []), success: { percent: 90 } };
    const { tracked: seen } = await trackUnits(ports, invoke, CALL, tracking);
    return { kind: seen.progress.kind, asked };
  };

  test.each<[string, Partial<UnitProgress>]>([
    ['which is to outweigh the others', { targeted: most, updated: most, live: most }],
    ['which is to blame a version', { state: 'failed', targeted: most, updated: most, failed: 1 }],
  ])('is not believed: %s', async (_, counts) => {
    const error = await looked(4, counts).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      type: 'extension-protocol',
      nonRetryable: true,
      message: expect.stringContaining(
        'units.0.targeted: 9000000000000000, of which 0 are gone, is more than the 4 that eu has',
      ) as string,
    });
  });

  test.each<[string, number | null, Partial<UnitProgress>]>([
    ['it has grown since', 40, { targeted: 40, updated: 40, live: 40 }],
    ['some of them are gone', 4, { targeted: 40, updated: 40, live: 4, gone: 36 }],
    ['it is no longer listed', null, { targeted: 40, updated: 40, live: 40 }],
  ])('is believed where %s', async (_, now, counts) => {
    expect(await looked(now, counts)).toMatchObject({ kind: counts.live === 40 ? 'met' : 'going' });
  });

  test('costs no listing where the unit has so many', async () => {
    expect((await looked(4, { targeted: 4, updated: 4, live: 4 })).asked).toEqual(['trackUpdates']);
  });
});
