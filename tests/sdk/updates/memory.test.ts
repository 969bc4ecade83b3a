import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Memory } from '../../../sdk/updates/memory';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-memory-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a call whose effect the disk did not take is answered once it is on the disk, and has one effect', () => {
  const file = join(folder, 'state.json');
  const memory = new Memory(file);
  let effects = 0;
  const call = () => memory.once('executeUpdates', { n: 1 }, 'key', () => ((effects += 1), { accepted: ['eu'] }));
  // As when the disk is full.
  mkdirSync(`${file}.new`);
  expect(call).toThrow();
  expect(call).toThrow();
  rmdirSync(`${file}.new`);
  expect([call(), effects]).toEqual([{ accepted: ['eu'] }, 1]);
  const next = new Memory(file).once('executeUpdates', { n: 1 }, 'key', () => ({ accepted: ['again'] }));
  expect(next).toEqual({ accepted: ['eu'] });
});
