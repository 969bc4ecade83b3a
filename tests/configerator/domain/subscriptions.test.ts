import {
  countSubscribers,
  toSubscription,
  type Acknowledgement,
  type StoredPathState,
} from '../../../configerator/domain/subscriptions';

const OVERRIDE = { id: 'u', revision: '3@c', version: 'new', hosts: ['web-1'] };
const has = (over: Partial<Acknowledgement>): Acknowledgement => ({
  ...{ host: 'web-1', path: 'a', version: 'old', revision: null, commit: 'c1', at: 0 },
  ...over,
});

test.each<[what: string, stored: Partial<StoredPathState>, has: Partial<Acknowledgement>, state: string]>([
  ['has the committed value', {}, {}, 'committed'],
  ['has an older value', {}, { version: 'older' }, 'stale'],
  ['is meant by an override and has it', { overrides: [OVERRIDE] }, { version: 'new', revision: '3@c' }, 'overridden'],
  ['is meant by an override and has not got it yet', { overrides: [OVERRIDE] }, {}, 'stale'],
  ['keeps an override after its end', {}, { version: 'new', revision: '3@c' }, 'stale'],
  ['is not meant by the override of others', { overrides: [{ ...OVERRIDE, hosts: ['web-2'] }] }, {}, 'committed'],
  ['refuses what it has', {}, { refused: 'too low' }, 'refused'],
  ['has nothing of what is gone', { committed: null }, { version: '' }, 'committed'],
  ['still has what is gone', { committed: null }, {}, 'stale'],
])('a host that %s counts as such', (_what, stored, given, state) => {
  const known = { committed: { version: 'old' }, overrides: [], ...stored };
  expect(toSubscription(known, has(given)).state).toBe(state);
});

test('every subscriber is counted once', () => {
  const states = ['committed', 'committed', 'overridden', 'refused', 'stale'] as const;
  expect(countSubscribers(states.map((state) => ({ state })))).toEqual({
    ...{ total: 5, committed: 2, overridden: 1, refused: 1, stale: 1 },
  });
});
