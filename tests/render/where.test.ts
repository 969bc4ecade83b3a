import { whereText } from '../../render/where';
import type { View } from '../../render/paint';
import type { WhereRelease, WhereView } from '../../domain/where/view';
import { DAY_MS } from '../../domain/milliseconds';
import { NOW } from '../builders/cliSamples';

const view: View = { width: 160, color: false, now: NOW, timeZone: 'UTC' };
const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();
const SHA = '4f0c1d2e9b8a7c6d5e4f3a2b1c0d9e8f7a6b5c4d';

const deploying: WhereRelease = {
  ...{ id: 'kvstore/12', pipeline: 'kvstore', number: 12, state: 'running', stage: 'deploying', share: 0.4 },
  contains: { artifact: 'executable@kv:12', by: 'revision', revision: SHA },
  ...{ startedAt: at(-10), endedAt: null, by: null, knownBad: [], undone: null },
  deploys: [{ action: 'deploy', state: 'baking', outcome: null, phase: { n: 2, of: 5, name: 'half' }, share: 0.4 }],
  wait: { why: 'baking phase half (2 of 5)', until: at(5) },
  ...{ everywhereAt: at(60), next: 'conveyor watch kvstore/12/deploy' },
};
const superseded: WhereRelease = {
  ...deploying,
  ...{ id: 'kvstore/11', number: 11, state: 'cancelled', stage: 'superseded', share: 0, by: 'kvstore/12', deploys: [] },
  ...{ endedAt: at(-9), wait: null, everywhereAt: null, next: 'conveyor status kvstore/12' },
};
const found = (more: Partial<WhereView> = {}): WhereView => ({
  ...{ kind: 'where', asked: SHA.slice(0, 7), revision: SHA, candidates: [], releases: [deploying, superseded] },
  ...{ total: 2, underWay: 1, succeeded: 0 },
  searched: { retentionMs: 30 * DAY_MS, older: null, archive: null, repositories: [] },
  ...more,
});
const nowhere = found({ revision: null, releases: [], total: 0, underWay: 0 });

test('an engineer sees how far each release is, what holds it until when, and what to type next', () => {
  const text = whereText(found(), view);
  expect(text).toContain(`${SHA} is in 2 releases: 1 under way, 1 ended otherwise`);
  expect(text).toMatch(/RELEASE +STATE +SHARE +EVERYWHERE/);
  expect(text).toMatch(/kvstore\/12 +◌ deploying, phase 2 of 5 +40% +in 1h +executable@kv:12 +10m ago/);
  expect(text).toMatch(/kvstore\/11 +⚠ superseded, by #12 +0% +–/);
  expect(text).toContain(
    'kvstore/12  baking phase half (2 of 5), until 14:07:10, in 5m; everywhere at 15:02:10 if all goes well',
  );
  expect(text).toMatch(/Next\n +conveyor watch kvstore\/12\/deploy$/);
});

test('a release that is left out is counted, and how to see it said', () => {
  expect(whereText(found({ total: 5_000 }), view)).toContain('4998 releases more: --limit 1000');
});

test('known-bad artifacts, newer revisions and silent workflows are marked', () => {
  const row: WhereRelease = {
    ...deploying,
    ...{ stage: 'reverted', knownBad: ['executable@kv:12'], problem: 'no worker polls its task queue conveyor' },
    contains: { artifact: 'config@12@9d8e7f6a', by: 'ancestor', revision: '9d8e7f6a' },
  };
  const text = whereText(found({ releases: [row] }), view);
  expect(text).toMatch(/↩ reverted, phase 2 of 5, known-bad, last known/);
  expect(text).toContain('config@12@9d8e7f6a, which is newer');
  expect(text).toContain('⚠ kvstore/12: no worker polls its task queue conveyor');
});

test('an ambiguous abbreviation lists the revisions, and no releases', () => {
  const text = whereText(
    found({ revision: null, releases: [], candidates: [{ revision: SHA, release: 'kvstore/12' }] }),
    view,
  );
  expect(text).toContain('4f0c1d2 may mean several revisions');
  expect(text).toMatch(new RegExp(`${SHA} +kvstore/12`));
});

test.each<[title: string, view: WhereView, says: RegExp]>([
  [
    'where it searched',
    nowhere,
    /^No release contains 4f0c1d2\.\nSearched: releases under way, and those that ended within 30d \(since 21 Oct 14:02:10\)\.\nNot searched: releases that wait in the queue/,
  ],
  [
    'that Temporal keeps everything',
    { ...nowhere, searched: { ...nowhere.searched, retentionMs: null } },
    /and all that have ended\./,
  ],
  ['that a commit needs more digits', { ...nowhere, asked: '4f0c1d' }, /A commit needs 7 digits or more\./],
  [
    'what the archive was asked',
    { ...nowhere, searched: { ...nowhere.searched, archive: { problem: null } } },
    /and the archive for older ones\./,
  ],
  [
    'what kept the archive from answering',
    { ...nowhere, searched: { ...nowhere.searched, archive: { problem: 'it is locked' } } },
    /The archive was not searched: it is locked/,
  ],
  [
    'which repositories it asked',
    {
      ...nowhere,
      searched: {
        ...nowhere.searched,
        repositories: [
          { name: 'flags', problem: null },
          { name: 'gates', problem: 'it does not answer' },
        ],
      },
    },
    /newer revisions that contain it, in flags\.\nThe repository gates was not asked for newer revisions: it does not answer/,
  ],
  [
    'how many older releases it could not read',
    { ...nowhere, searched: { ...nowhere.searched, older: { count: 1_203, read: 1_000 } } },
    /1203 releases began before their revisions were listed; the newest 1000 of them were read\./,
  ],
])('an answer that finds nothing says %s', (_title, answer, says) => {
  expect(whereText(answer, view)).toMatch(says);
});
