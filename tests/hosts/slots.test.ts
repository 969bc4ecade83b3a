import { HOSTS_LIMITS } from '../../domain/limits';
import { listPlaces, syncHosts, type HostsState } from '../../push-types/hosts/slots';
import { SeenLog } from '../../push-types/hosts/seenLog';

/** The memory of hosts, which stays small. */

const makeState = (): HostsState => ({ units: {}, updates: {}, cancelled: [], calls: {} });

test('a host keeps its index while others come and go, and returns to it', () => {
  const state = makeState();
  syncHosts(state, 'web', ['a', 'b', 'c']);
  syncHosts(state, 'web', ['a', 'c', 'd']);
  expect(listPlaces(state, 'web')).toEqual(['a', 'b', 'c', 'd']);
  expect(state.units['web']?.slots.map(({ gone }) => gone ?? false)).toEqual([false, true, false, false]);
  syncHosts(state, 'web', ['b']);
  expect(state.units['web']?.slots.map(({ gone }) => gone ?? false)).toEqual([true, false, true, true]);
});

test('the memory of a unit has no more places than a unit may have hosts, whatever their names were', () => {
  const state = makeState();
  const { max } = HOSTS_LIMITS.hosts;
  const name = (n: number): string => `h${n}`;
  syncHosts(
    state,
    'web',
    Array.from({ length: max }, (_, n) => name(n)),
  );
  for (let round = 1; round <= 3; round += 1)
    syncHosts(
      state,
      'web',
      Array.from({ length: max }, (_, n) => name(n + round * 10)),
    );
  expect(listPlaces(state, 'web')).toHaveLength(max);
  expect(state.units['web']?.slots.filter(({ gone }) => gone)).toEqual([]);
  expect(new Set(listPlaces(state, 'web')).size).toBe(max);
});

describe('the data source of what was seen', () => {
  const options = { source: undefined, signal: new AbortController().signal };
  const ask = async (log: SeenLog, metric: string, tasks: string[]) =>
    (await log.query({ metric, selector: { unit: 'web', tasks }, start: 0, end: 100, step: 1 }, options)).series;

  test('has a crash for each automatic restart between two looks, and none for the first look', async () => {
    const log = new SeenLog();
    log.note('a', 5, 1);
    log.note('a', 5, 2);
    log.note('a', 7, 3);
    log.note('b', undefined, 3);
    expect(await ask(log, 'system.crashes', ['a@1', 'b@1'])).toEqual([{ labels: { task: 'a@1' }, points: [[3, 2]] }]);
    expect(await ask(log, 'up', ['b@1'])).toEqual([{ labels: { task: 'b@1' }, points: [[3, 0]] }]);
  });

  test('does not count the crashes of the version before for the new one', async () => {
    const log = new SeenLog();
    log.note('a', 0, 1);
    log.note('a', 4, 2);
    log.forget('a');
    log.note('a', 0, 3);
    expect(await ask(log, 'system.crashes', ['a@2'])).toEqual([]);
  });

  test('answers no other metric, and says what is needed', async () => {
    await expect(ask(new SeenLog(), 'rpc.error_ratio', ['a@1'])).rejects.toThrow('start it with --prometheus');
  });
});
