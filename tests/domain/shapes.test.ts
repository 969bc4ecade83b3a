import { isOver } from '../../domain/pipeline/shapes';

const over = (leaves: unknown) => isOver({ release: 1, action: 'deploy', leaves });
const UNIT = { id: 'kvstore-y', version: 'kv:1' };

test.each<[string, unknown, boolean]>([
  ['nothing said', undefined, true],
  ['nothing left', null, true],
  ['units', { left: ['kv:2'], before: { units: [UNIT] } }, true],
  ['units in pages, of which some have settled', { left: [], before: { at: 's/1', pages: 2 }, settled: ['a'] }, true],
  ['a version for each unit', { 'kvstore-y': 'kv:1' }, false],
  ['units without an id', { left: [], before: { units: [{ version: 'kv:1' }] } }, false],
  ['pages that nobody counts', { left: [], before: { at: 's/1' } }, false],
  ['units that settled as a text', { left: [], before: { units: [] }, settled: 'a' }, false],
])('the end of a deploy that hands on %s is understood or ignored', (_, leaves, expected) => {
  expect(over(leaves)).toBe(expected);
});
