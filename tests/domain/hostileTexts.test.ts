import type { Advisory } from '../../features/bugs/domain/advisory';
import { readSbom } from '../../features/bugs/domain/sbom/reader';
import { chainToAffected } from '../../features/bugs/domain/sbom/sbom';
import { readCalendar } from '../../domain/calendar/icalendar';

/** A reader whose time grows with the square of its text takes a minute or more for one that is so long. */
const LONG = 100_000;
const MOST_MS = 15_000;

function withinTime<T>(read: () => T): T {
  const begin = performance.now();
  const answer = read();
  expect(performance.now() - begin).toBeLessThan(MOST_MS);
  return answer;
}

const ADVISORY = {
  affected: [{ package: { ecosystem: 'npm', name: 'left-pad' }, versions: ['1.0.0'], ranges: [] }],
} as unknown as Advisory;
const ORDER = { isVersion: () => false, compare: () => 0 };

function chainIn(document: object | string): readonly string[] | string | undefined {
  const read = readSbom(typeof document === 'string' ? document : JSON.stringify(document));
  return 'problem' in read ? read.problem : chainToAffected(read.sbom, ADVISORY, ORDER);
}

describe('an SBOM of a stranger keeps no worker busy:', () => {
  test.each([
    ['slashes behind its name', `pkg:npm/left-pad${'/'.repeat(LONG)}x`],
    ['slashes before its type', `pkg:${'/'.repeat(LONG)}npm/left-pad`],
    ['at signs', `pkg:npm/${'@'.repeat(LONG)}/`],
    ['scopes', `pkg:npm/${'@a/'.repeat(LONG)}x`],
    ['question marks', `pkg:npm/a${'?'.repeat(LONG)}\n`],
    ['folders of Go', `pkg:golang/a#${'v2/'.repeat(LONG)}`],
    ['hyphens', `pkg:pypi/${'-_'.repeat(LONG)}`],
    ['escapes', `pkg:npm/${'%2F'.repeat(LONG)}`],
  ])('a package URL of many %s', (_what, purl) => {
    const document = { bomFormat: 'CycloneDX', components: [{ name: 'a', version: '2.0.0', purl }] };
    expect(withinTime(() => chainIn(document))).toBeUndefined();
  });

  test('one that is nested as deep as it is long', () => {
    expect(withinTime(() => chainIn('['.repeat(LONG) + ']'.repeat(LONG)))).toMatch(/neither CycloneDX nor SPDX/);
    const inner = '{"name":"a","components":['.repeat(LONG) + ']}'.repeat(LONG);
    expect(withinTime(() => chainIn(`{"bomFormat":"CycloneDX","components":[${inner}]}`))).toBeUndefined();
  });

  test('one whose components depend on each other in circles', () => {
    const refs = Array.from({ length: LONG / 10 }, (_, index) => `r${index}`);
    const components = refs.map((ref) => ({ 'bom-ref': ref, name: ref, version: '2.0.0' }));
    const bad = { 'bom-ref': 'bad', purl: 'pkg:npm/left-pad@1.0.0', name: 'left-pad', version: '1.0.0' };
    const dependencies = [
      ...refs.map((ref, index) => ({ ref, dependsOn: [refs[(index + 1) % refs.length], ref, refs[0]] })),
      { ref: refs.at(-1), dependsOn: ['bad'] },
    ];
    const document = { bomFormat: 'CycloneDX', metadata: {}, components: [...components, bad], dependencies };
    expect(withinTime(() => chainIn(document))).toEqual(['left-pad@1.0.0']);
  });
});

const calendar = (...lines: readonly string[]): string =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:x', ...lines, 'END:VCALENDAR', ''].join('\r\n');
const event = (...lines: readonly string[]): string =>
  calendar('BEGIN:VEVENT', 'UID:1', 'DTSTART;VALUE=DATE:20261201', ...lines, 'END:VEVENT');

describe('a calendar of a stranger is read in time:', () => {
  test.each([
    [
      'events in events',
      calendar(...Array<string>(LONG / 50).fill('BEGIN:VEVENT'), ...Array<string>(LONG / 50).fill('END:VEVENT')),
    ],
    ['folded lines', event(`SUMMARY:a${'\r\n a'.repeat(LONG)}`)],
    ['parameters', event(`SUMMARY${';A=b'.repeat(LONG)}:x`)],
    ['a quote that does not end', event(`SUMMARY;A="${'b'.repeat(LONG)}`)],
    ['escapes', event(`SUMMARY:${'\\'.repeat(LONG)}`)],
    ['commas', event(`CATEGORIES:${','.repeat(LONG)}`)],
    [
      'days of a year',
      event(
        `RRULE:FREQ=YEARLY;BYYEARDAY=${Array<string>(LONG / 4)
          .fill('366')
          .join(',')}`,
      ),
    ],
    ['a rule that began long ago', event('RRULE:FREQ=DAILY').replace('20261201', '00010101')],
    ['a rule that never comes', event('RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;BYSETPOS=300')],
    ['a count without end', event(`RRULE:FREQ=DAILY;COUNT=${'9'.repeat(15)}`)],
  ])('%s', (_what, text) => {
    const { blackouts, faults } = withinTime(() => readCalendar(text, Date.parse('2026-11-27T00:00:00Z'), 'UTC'));
    expect(blackouts.length).toBeLessThan(20_000);
    expect(blackouts.length + faults.length).toBeGreaterThan(0);
  });
});
