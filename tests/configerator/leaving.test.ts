import type { ConfigState } from '../../configerator/pushType/memory';
import { newService } from '../../configerator/pushType/service';
import { seat, type Subscribers } from '../../configerator/pushType/subscribers';
import { CONFIG_LIMITS } from '../../domain/limits';

const { max } = CONFIG_LIMITS.leftHosts;
const [NAME, UNIT] = ['flags/feed', 'flags/feed:eu'];

/** A service of which hosts come and go. */
function world() {
  const service = newService({ repository: 'flags', paths: ['feed/'] });
  const state: ConfigState = { units: {}, updates: {}, cancelled: [], calls: {}, services: { [NAME]: service } };
  return {
    state,
    hosts: () => service.hosts[UNIT] ?? [],
    slots: () => state.units[UNIT]?.slots ?? [],
    /** Only these are there now. */
    here: (...names: readonly string[]): void => {
      const subscribers: Subscribers = new Map(
        names.map((host) => [host, { host, labels: { region: 'eu' }, has: [] }]),
      );
      seat(NAME, service, state, subscribers, 0);
    },
    updates: (id: string, ...names: readonly string[]): void => {
      const slots = names.map((name) => (service.hosts[UNIT] ?? []).indexOf(name));
      const units = { [UNIT]: { version: '2@b', slots, state: 'active' as const } };
      state.updates[id] = { updatedBy: [], exclude: [], units };
    },
    /** The hosts of an update. */
    meant: (id: string) => state.updates[id]?.units[UNIT]?.slots.map((index) => service.hosts[UNIT]?.[index]),
  };
}

const named = (count: number, from = 0): string[] => Array.from({ length: count }, (_, at) => `h${from + at}`);

test('hosts that left keep their places up to the limit, and half of them beyond it', () => {
  const it = world();
  it.here('stays', ...named(max));
  it.here('stays');
  expect([it.hosts().length, it.slots().length]).toEqual([max + 1, max + 1]);
  it.here('stays', 'more');
  it.here('stays');
  expect([it.hosts().length, it.slots().length]).toEqual([max / 2 + 1, max / 2 + 1]);
  expect(it.hosts()).toContain('stays');
  expect(it.slots()[it.hosts().indexOf('stays')]?.gone).toBe(false);
});

test('however many come and go, those that are there have a place each, and no more are remembered than may be', () => {
  const it = world();
  for (let round = 0; round < 40; round += 1) {
    const names = named(300, round * 300);
    it.here(...names);
    const there = it.hosts().filter((_, index) => it.slots()[index]?.gone === false);
    expect(there.toSorted()).toEqual(names.toSorted());
    expect(it.slots().length - there.length).toBeLessThanOrEqual(max);
    expect(it.slots()).toHaveLength(it.hosts().length);
  }
});

test('an update under way means the same hosts afterwards, also those of them that left', () => {
  const it = world();
  const chosen = ['h3', 'stays', `h${max - 1}`];
  it.here('stays', ...named(max + 1));
  it.updates('deploy/feed/1/deploy/1/0/1', ...chosen);
  it.here('stays');
  expect(it.hosts().length).toBeLessThan(max);
  expect(it.meant('deploy/feed/1/deploy/1/0/1')).toEqual(chosen);
  it.here('stays', 'h3');
  expect(it.slots()[it.hosts().indexOf('h3')]?.gone).toBe(false);
});

test('an update that has ended forgets hosts that left with their places', () => {
  const it = world();
  it.here('stays', ...named(max + 1));
  it.updates('deploy/feed/1/deploy/1/0/1', 'stays', ...named(max + 1));
  Object.assign(it.state.updates['deploy/feed/1/deploy/1/0/1']?.units[UNIT] ?? {}, { state: 'done' });
  it.here('stays');
  expect(it.meant('deploy/feed/1/deploy/1/0/1')?.toSorted()).toEqual(it.hosts().toSorted());
});
