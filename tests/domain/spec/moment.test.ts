import { parseMoment, parseSince } from '../../../domain/spec/moment';

const NOW = Date.parse('2026-11-20T14:00:00Z');

test.each<[string, string | undefined]>([
  ['2h', '2026-11-20T12:00:00.000Z'],
  ['21d', '2026-10-30T14:00:00.000Z'],
  ['2026-11-20T12:00:00Z', '2026-11-20T12:00:00.000Z'],
  ['2026-11-20T12:00+01:00', '2026-11-20T11:00:00.000Z'],
  ['2026-02-30T12:00:00Z', undefined],
  ['yesterday', undefined],
  ['', undefined],
])('%j is a duration ago or a time, or neither', (text, at) => {
  const atMs = parseSince(text, NOW);
  expect(atMs === undefined ? undefined : new Date(atMs).toISOString()).toBe(at);
});

test('a duration alone is no time', () => {
  expect(parseMoment('2h')).toBeUndefined();
});
