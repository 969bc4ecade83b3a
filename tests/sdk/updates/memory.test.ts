import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Memory, newSlot, type UnitState, type UnitUpdate, type Update } from '../../../sdk/updates/memory';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-memory-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a call whose effect the disk did not take is answered once it is on the disk, and has one effect', () => {
  const file = join(folder, 'state.json');
  const memory = new Memory(file);
  let effects = 0;
  const call = () => memory.once('executeUpdates', { n: 1 }, 'key', () => ((effects += 1), { accepted: ['eu'] }));
  // As when the disk is full.
  mkdirSync(file);
  expect(call).toThrow();
  expect(call).toThrow();
  rmdirSync(file);
  expect([call(), effects]).toEqual([{ accepted: ['eu'] }, 1]);
  const next = new Memory(file).once('executeUpdates', { n: 1 }, 'key', () => ({ accepted: ['again'] }));
  expect(next).toEqual({ accepted: ['eu'] });
});

describe('an update that more than a thousand later ones came after', () => {
  const update = (state: UnitUpdate['state']): Update => ({
    ...{ updatedBy: [], exclude: [], units: { eu: { version: 'v2', slots: [0], state } } },
  });
  const afterMany = (first: Update, units: Record<string, UnitState> = {}): boolean => {
    const memory = new Memory(null);
    Object.assign(memory.state.units, units);
    memory.state.updates['first/1/1'] = first;
    for (let n = 0; n < 1001; n += 1)
      memory.once('executeUpdates', { n }, `${n}`, () => (memory.state.updates[`later/${n}/1`] = update('done')));
    return 'first/1/1' in memory.state.updates;
  };

  test.each(['active', 'paused'] as const)('is remembered while it is %s', (state) => {
    expect(afterMany(update(state))).toBe(true);
  });

  test('is remembered while a unit or one of its slots runs by it, so that the next try of a revert finds that', () => {
    const unit = { version: 'v1', update: null, starts: [], slots: [] };
    expect(afterMany(update('done'), { eu: { ...unit, update: 'first/1/1' } })).toBe(true);
    expect(afterMany(update('done'), { eu: { ...unit, slots: [newSlot('v2', 'first/1/1')] } })).toBe(true);
  });

  test.each(['done', 'failed', 'ended'] as const)('is forgotten once it is %s and nothing runs by it', (state) => {
    expect(afterMany(update(state))).toBe(false);
  });
});
