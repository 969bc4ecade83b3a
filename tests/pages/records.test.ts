import { bugText } from '../../features/bugs/render/bugs';
import { whereText } from '../../render/where';
import { FRAME } from '../builders/pageWorld';
import * as records from '../builders/recordPages';

const { bugs, FRESHNESS, NAMES, render, STATS, WHERE } = records;

/** The text of a page, with each run of spaces as one. */
const textIn = (page: string): string =>
  page
    .replace(/<title>.*?<\/title>/gs, ' ')
    .replace(/<\/?(a|b|bdi|code|time|summary|span)\b[^>]*>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ');

/** The largest models that servers make. */
const HUGE: readonly (readonly [string, () => string])[] = [
  [
    'statistics of 100 categories',
    () => render('stats', { ...STATS, report: records.stats(Array.from({ length: 100 }, (_, n) => `category-${n}`)) }),
  ],
  [
    'the calendar of ten pipelines',
    () =>
      render(
        'calendar',
        records.calendarModel({ agendas: Array.from({ length: 10 }, (_, n) => records.agenda(`service-${n}`)) }),
      ),
  ],
  [
    '100 records',
    () =>
      render('audit', records.auditModel({ records: Array.from({ length: 100 }, (_, n) => records.auditRecord(n)) })),
  ],
  [
    'a value of 1 MB',
    () => render('value', records.valueModel({ value: { commit: null, value: 'x'.repeat(1_000_000) } })),
  ],
  ['100 bugs', () => render('bugs', bugs(100))],
  [
    'a repository with 200 sources and changes',
    () =>
      render(
        'repository',
        records.repositoryModel({
          sources: Array.from({ length: 200 }, (_, n) => `feed/limits-${n}.json`),
          changes: Array.from({ length: 20 }, () => records.repositoryModel().changes[0] as never),
          totalSources: 30_000,
        }),
      ),
  ],
];

describe('a page', () => {
  test.each([...NAMES.map((name) => [name, () => render(name)] as const), ...HUGE])(
    '%s is smaller than 100 kB, has no script, no style of its own, and each id once',
    (_name, make) => {
      const page = make();
      expect(Buffer.byteLength(page)).toBeLessThan(100_000);
      expect(page).not.toMatch(/<script|<style|\sstyle=|\son[a-z]+=|javascript:/i);
      const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
      expect(ids).toEqual([...new Set(ids)]);
      expect(page.match(/<h1\b/g)).toHaveLength(1);
      expect(page).toMatch(/^<!doctype html><html lang="en">/);
    },
  );
});

describe('a page has every fact of its command', () => {
  const cellsIn = (text: string): string[] =>
    text
      .split('\n')
      .flatMap((line) => line.trim().split(/ {2,}/))
      .map((cell) => cell.replace(/^[✔✖◌⚠◷‖·↩] /, '').replace(/\s+/g, ' '))
      .filter((cell) => cell !== '' && !/^([A-Z ]{2,}|Next)$/.test(cell));

  test('conveyor where', () => {
    const cells = cellsIn(whereText(records.whereFound(), { ...FRAME.view, compact: false }));
    expect(cells.length).toBeGreaterThan(12);
    expect(cells.filter((cell) => !textIn(render('where')).includes(cell))).toEqual([]);
  });

  test('conveyor bugs show', () => {
    const text = textIn(render('bug'));
    const [first = '', by = ''] = bugText(records.foundBug(), FRAME.view).split('\n');
    expect(text).toContain(first.trim());
    expect(text).toContain(by.trim());
    for (const word of ['//kv:server > //lib:rpc', 'group:storage', 'kv@13', 'unreadable: 1 SBOM'])
      expect(text).toContain(word);
  });

  test('conveyor audit --wide', () => {
    const text = textIn(render('audit'));
    for (const word of [
      'user:alice',
      'hold',
      'refused',
      'owners of kvstore',
      'labels.team: "a" → "b"',
      'and 2 more',
      'server-1:2',
    ])
      expect(text).toContain(word);
    expect(text).toContain('not-permitted: user:alice is not an owner');
  });

  test('conveyor config show and why', () => {
    const text = textIn(render('value'));
    for (const word of [
      '"soft": 100',
      'feed/shared.ts',
      '20 hosts subscribe to feed/limits: 17 with the committed value',
      'web-3 refuses the override 12@4f0c9b1d2e3a',
      'conveyor revert flags/12 takes it back',
      'cannot be trusted: no signature',
      'the value of feed/limits on web-9 is unknown: the store does not answer',
    ])
      expect(text).toContain(word);
  });
});

test('a gate shows the share of users that passes each rule, in its order, in words and as a bar', () => {
  const page = render('gate');
  expect(textIn(page)).toContain('developers id alice, bob 100%');
  expect(textIn(page)).toContain('rule 2 not (employees) and app version from 3.2 12.5%');
  expect(textIn(page)).toContain('everybody every user 0.0001%');
  expect(page).toContain('aria-label="rule 2: 12.5% pass"');
  const broken = records.gateModel({ value: { commit: null, value: '{ "rules": [{ "if": [], "pass": 2 }] }' } });
  expect(textIn(render('gate', broken))).toContain(
    'hosts refuse this value: rules[0].pass: expected a number from 0 to 1',
  );
  expect(textIn(render('gate', records.gateModel({ value: { commit: null, value: 'no JSON' } })))).toContain(
    'hosts refuse this value',
  );
});

test('the calendar names windows, blackouts, the calendar and the end of a freeze, by day', () => {
  const text = textIn(render('calendar'));
  for (const word of [
    'deploy open 23 Nov 09:00:00 to 23 Nov 17:00:00',
    'blackout 26 Nov 00:00:00 to 30 Nov 00:00:00: the busiest days of the year',
    'Monday 23 November',
    'deploys may begin, by the calendar 0 9 * * 1-5 (Europe/Berlin)',
    'end of a freeze frozen the freeze lifts itself',
    'its file did not arrive in time',
    '3 of 30,000 pipelines, 10 on a page',
  ])
    expect(text).toContain(word);
});

test('statistics are drawn with words, a unit and a source, and the same is a table', () => {
  const page = render('stats');
  const charts = page.match(/<figure class="plot">.*?<\/figure>/gs) ?? [];
  expect(charts.length).toBeGreaterThan(8);
  for (const chart of charts) {
    expect(chart).toMatch(/role="img" aria-label="[^"]+"/);
    expect(textIn(chart)).toContain('Source: the archive, releases and deploys that ended from');
  }
  expect(page.match(/<summary>as a table<\/summary>/g)).toHaveLength(charts.length);
});

test('statistics of many categories show the first ones, and the filter leads to another', () => {
  const report = records.stats(Array.from({ length: 100 }, (_, n) => `category-${n}`));
  expect(textIn(render('stats', { ...STATS, report }))).toContain('6 of 100 categories');
  const one = textIn(render('stats', { filters: { ...STATS.filters, category: 'category-77' }, report }));
  expect(one).toContain('category-77');
  expect(one).not.toContain('category-12');
});

describe('a page of nothing says what to type next', () => {
  test.each<[string, () => string, string]>([
    ['where', () => render('where', { asked: '', found: null as never }), 'conveyor where 4f0c9b1d2e3a'],
    [
      'where nothing is found',
      () => render('where', { ...WHERE, found: records.whereFound({ releases: [], total: 0 }) }),
      'Not searched: releases that wait',
    ],
    [
      'calendar',
      () => render('calendar', records.calendarModel({ agendas: [], next: null, total: 0 })),
      'conveyor init my-service',
    ],
    ['stats', () => render('stats', { ...STATS, report: null as never }), 'This server has no archive'],
    ['bugs', () => render('bugs', bugs(0)), 'conveyor bugs report --target'],
    [
      'freshness',
      () => render('freshness', { ...FRESHNESS, report: records.freshness(0), total: 0 }),
      'conveyor init writes a first one',
    ],
    ['audit', () => render('audit', records.auditModel({ records: null })), 'This server keeps no audit'],
    ['config', () => render('config', { repositories: [] }), 'config.repositories'],
    [
      'repository',
      () => render('repository', records.repositoryModel({ changes: [], log: [], sources: [] })),
      'conveyor config propose',
    ],
    ['gates', () => render('gates', { gates: [], unread: [], hasRepository: true }), 'a gate is a value below gates/'],
    [
      'settings',
      () =>
        render('settings', records.settingsModel({ account: null, token: null, settings: null, why: 'for admins' })),
      'conveyor login URL',
    ],
  ])('%s', (_name, make, words) => {
    expect(textIn(make())).toContain(words);
  });

  test('an ambiguous revision leads to those that it may mean', () => {
    const found = records.whereFound({ candidates: [{ revision: records.SHA, release: 'kvstore/13' }], releases: [] });
    expect(render('where', { ...WHERE, found })).toContain(`href="/where?revision=${records.SHA}"`);
  });
});

test('the page about oneself names the groups, the rules that apply and the session, and signs out everywhere by a form', () => {
  const page = render('settings');
  const text = textIn(page);
  for (const word of [
    'group:sre (by the identity provider), group:storage (by the settings)',
    'platform.admins ✔ yes, through group:sre do everything, on record',
    'platform.pipelines.0.creators · no create, apply, import and retire own pipelines called kv*',
    'By the identity provider, signed in 1h ago',
  ])
    expect(text).toContain(word);
  expect(page).toContain(
    '<form method="post" action="/sign-out/everywhere"><input type="hidden" name="csrf" value="token"/>',
  );
});

test('a long list leads on, and back to its beginning', () => {
  const page = render('freshness', { ...FRESHNESS, from: 100, filters: { owner: 'group:a', state: 'stale' } });
  expect(page).toContain('href="/freshness?owner=group%3Aa&amp;state=stale"');
  expect(page).toContain('href="/freshness?owner=group%3Aa&amp;state=stale&amp;from=200"');
  expect(render('audit')).toContain('href="/audit?before=12%2C7"');
  expect(render('calendar')).toContain('href="/calendar?cursor=bmV4dA"');
});
