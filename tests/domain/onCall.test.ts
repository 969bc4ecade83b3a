import { findAlarm } from '../../domain/deploy/alarm';
import { readPageTarget, readScheduleAnswer, WHO_IS_PAGED } from '../../domain/onCall';
import { recordAnswer, changeAlarm, isOpenPage, openPage } from '../../domain/release/pages';
import type { Pause } from '../../domain/views';

const NOW = Date.parse('2026-11-23T17:00:00.000Z');
const PAGE = openPage(
  'kvstore/12/deploy',
  { kind: 'paused', reason: 'errors' },
  { nowMs: NOW, afterMs: 60_000, number: 1 },
);

test.each<[string, boolean]>([
  ['user:alice', true],
  ['group:storage', true],
  ['storage-pager', true],
  ['https://rota.example.org/storage', true],
  ['${ROTA}/storage', true],
  ['service:ci', false],
  ['Storage Pager', false],
  ['ftp://rota.example.org', false],
  ['', false],
])('%j can be paged: %s', (page, isFit) => expect(WHO_IS_PAGED.test(page)).toBe(isFit));

test.each<[string | undefined, object | undefined]>([
  ['{"onCall":"user:alice"}', { kind: 'principal', principal: 'user:alice' }],
  ['{"onCall":"storage-pager","until":"2026-11-24"}', { kind: 'receiver', name: 'storage-pager' }],
  ['{"onCall":"http://169.254.169.254/"}', undefined],
  ['{"onCall":["user:alice"]}', undefined],
  [`{"onCall":"user:${'a'.repeat(300)}"}`, undefined],
  ['["user:alice"]', undefined],
  ['null', undefined],
  ['user:alice', undefined],
  [undefined, undefined],
])('a schedule that answers %j names %j', (text, named) => expect(readScheduleAnswer(text)).toEqual(named));

test('the address of a schedule is read as one', () =>
  expect(readPageTarget('https://rota.example.org')).toEqual({ kind: 'schedule', url: 'https://rota.example.org' }));

describe('an alarm is what no person asked for', () => {
  const pause = (by: Pause['by']): Pause => ({ by, actor: null, at: '', reason: `by ${by}` });
  const record = (paused: Pause | null, revertedBy?: string) =>
    ({
      control: { paused },
      revert: revertedBy === undefined ? null : { by: revertedBy, reason: 'errors' },
      pausedGroups: [],
    }) as unknown as Parameters<typeof findAlarm>[0];

  test.each<[Pause['by'], boolean]>([
    ['health', true],
    ['dependency', true],
    ['timeout', true],
    ['unit', true],
    ['action', true],
    ['operator', false],
    ['freeze', false],
  ])('a pause by %s: %s', (by, isAlarm) =>
    expect(findAlarm(record(pause(by)))).toEqual(isAlarm ? { kind: 'paused', reason: `by ${by}` } : null),
  );

  test('a revert by health is one, also while it is paused, and a revert by a person is none', () => {
    expect(findAlarm(record(pause('dependency'), 'health'))).toEqual({ kind: 'reverted', reason: 'errors' });
    expect(findAlarm(record(null, 'user:alice'))).toBeNull();
  });
});

describe('a page', () => {
  test('is due after the time that people have', () =>
    expect(PAGE).toMatchObject({ state: 'due', dueAt: '2026-11-23T17:01:00.000Z', to: null, answeredBy: null }));

  test('keeps its first answer, and takes none once it is over', () => {
    const answered = recordAnswer(PAGE, 'user:alice', NOW);
    expect(recordAnswer(answered, 'user:bob', NOW).answeredBy).toBe('user:alice');
    expect(recordAnswer({ ...PAGE, state: 'over' }, 'user:bob', NOW).answeredBy).toBeNull();
    expect([isOpenPage(answered), isOpenPage({ ...answered, state: 'over' }), isOpenPage(undefined)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('that began with a pause tells the revert that follows', () =>
    expect(changeAlarm(PAGE, { kind: 'reverted', reason: 'worse' })).toMatchObject({
      kind: 'reverted',
      reason: 'worse',
    }));

  test('keeps texts of any length short', () => {
    const long = 'x'.repeat(100_000);
    const page = recordAnswer(
      openPage('a/1/b', { kind: 'paused', reason: long }, { nowMs: NOW, afterMs: 0, number: 1 }),
      long,
      NOW,
    );
    expect(JSON.stringify(page).length).toBeLessThan(2_000);
  });
});
