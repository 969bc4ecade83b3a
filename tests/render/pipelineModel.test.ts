import { historyTable, pipelineTable } from '../../render/lists';
import type { WatchSnapshot } from '../../client/snapshot';
import { logLines } from '../../render/log';
import type { View } from '../../render/paint';
import { renderPipeline } from '../../render/pipeline';
import { renderRelease } from '../../render/release';
import { renderHistorySummary, summarizeHistory } from '../../render/summary';
import type { ActionView, HistoryRow, ReleaseStatus } from '../../domain/views';
import { action, children, NOW, pipeline, release } from '../builders/cliSamples';
import { run } from '../builders/cliWorld';

/** The parts that the whole pipeline model adds to the pictures: waits, picks, retries, children, schedules, groups, end states. */
const view: View = { width: 110, color: false, now: NOW, timeZone: 'UTC' };
const picture = (text: string): string => text.replace(/^\n|\n *$/g, '');

/** The line of the tree that an action has. */
const lineOf = (one: ActionView, over: Partial<View> = {}): string =>
  renderRelease(release({ actions: [one] }), [], { ...view, ...over })
    .split('\n')
    .find((line) => line.startsWith('└─ '))!
    .replace(/ {2,}/g, '  ');

const notBegun = { startedAt: null, endedAt: null } as const;

describe('an action shows', () => {
  test.each<[string, Partial<ActionView>, string]>([
    [
      'what blocks it, and until when here, in UTC and from now',
      { state: 'blocked', blockedBy: 'the window is closed', until: '2026-11-23T17:00:00.000Z', ...notBegun },
      'blocked  the window is closed (until 23 Nov 09:00 (17:00 UTC), in 3d 2h)',
    ],
    [
      'the day in UTC where it is another one',
      { state: 'blocked', blockedBy: 'waiting for the calendar', until: '2026-11-24T03:00:00.000Z', ...notBegun },
      'blocked  waiting for the calendar (until 23 Nov 19:00 (24 Nov 03:00 UTC), in 3d 12h)',
    ],
    [
      'who may pick and how long it waits',
      {
        state: 'blocked',
        blockedBy: 'waiting for a person',
        pickBy: ['group:storage', 'user:eve'],
        until: '2026-11-20T22:02:10.000Z',
        ...notBegun,
      },
      'blocked  group:storage, user:eve may pick (until 14:02:10 (22:02 UTC), in 8h)',
    ],
    [
      'that owners may pick where nobody is named',
      { state: 'blocked', pickBy: [], ...notBegun },
      'blocked  an owner may pick',
    ],
    [
      'which attempt it is, of how many',
      { state: 'running', attempt: 2, attempts: 3, endedAt: null, startedAt: '2026-11-20T14:02:00.000Z' },
      'running  attempt 2 of 3  10s',
    ],
    ['an attempt that a person asked for', { state: 'failed', attempt: 4, attempts: 3 }, 'failed  attempt 4  9s'],
    [
      'how far it is, as its service says',
      {
        state: 'running',
        progress: 0.45,
        message: 'shard 9 of 20',
        endedAt: null,
        startedAt: '2026-11-20T14:02:00.000Z',
      },
      'running  ████░░░░░░  45% 10s · shard 9 of 20',
    ],
    [
      'why it was skipped',
      { state: 'skipped', message: 'when: changed executable is false', ...notBegun },
      'skipped  when: changed executable is false',
    ],
  ])('%s', (_title, over, expected) => {
    const shown = lineOf(action({ name: 'it', type: 'custom', ...over }), { timeZone: 'America/Los_Angeles' });
    expect(shown).toBe(`└─ it  custom  ${shown.split('  ')[2]?.split(' ')[0]} ${expected}`);
  });
});

describe('a release', () => {
  const pick = action({
    name: 'approve',
    type: 'manual-pick',
    state: 'blocked',
    pickBy: ['group:storage'],
    ...notBegun,
  });
  const failed = action({ name: 'tests', type: 'integr-test', state: 'failed', url: 'http://ci/4711' });
  const nextOf = (status: ReleaseStatus, waits: WatchSnapshot['waits'] = []): string[] => {
    const lines = renderRelease(status, [], view, waits).split('\n');
    return lines.slice(lines.indexOf('Next') + 1, -1).map((line) => line.trim());
  };

  test.each<[string, Partial<ReleaseStatus>, string]>([
    [
      'that waits for a person: the pick',
      { actions: [pick] },
      'conveyor pick kvstore/13/approve --approve --reason "…"',
    ],
    ['with a failed action: the retry', { actions: [failed, pick] }, 'conveyor retry kvstore/13/tests --reason "…"'],
    [
      'of a frozen pipeline: to unfreeze',
      { actions: [action({ state: 'blocked', blockedBy: 'the pipeline is frozen by user:eve: moving', ...notBegun })] },
      'conveyor unfreeze kvstore --reason "…"',
    ],
    [
      'of a held pipeline: to unhold',
      { actions: [action({ state: 'blocked', blockedBy: 'the pipeline is held by user:eve: incident', ...notBegun })] },
      'conveyor unhold kvstore --reason "…"',
    ],
    [
      'whose children failed: the first of them',
      { state: 'succeeded', actions: [action()], children: children() },
      'conveyor status model-7/3',
    ],
  ])('says what to type next, %s', (_title, over, command) => {
    expect(nextOf(release(over))).toContain(command);
  });

  test.each([
    ['the pipeline is frozen by user:eve: moving', 'conveyor unfreeze kvstore --reason "…"'],
    ['waiting for the calendar', 'conveyor watch kvstore/13'],
  ])('says what to type next, before it has started: %s', (why, command) => {
    const queued = release({ state: 'queued', actions: [] });
    const waits = [{ release: 13, action: null, why, until: null }];
    expect(nextOf(queued, waits)).toEqual([command, 'conveyor cancel kvstore/13 --reason "…"']);
  });

  test('names the page of what runs or failed', () => {
    expect(renderRelease(release({ actions: [failed] }), [], view)).toContain('\ntests  http://ci/4711\n');
    expect(renderRelease(release({ actions: [action({ url: 'http://ci/1' })] }), [], view)).not.toContain(
      'http://ci/1',
    );
  });

  test('counts its children and shows those that went wrong', () => {
    const shown = renderRelease(release({ state: 'succeeded', actions: [action()], children: children() }), [], view);
    expect(shown).toContain(
      picture(`
Children  ◌ running  ░░░░░░░░░░  300 releases: 8 succeeded, 50 running, 240 waiting, 1 failed, 1 cancelled
  ✖ model-7/3  failed   its deploy was reverted
  ✖ model-9    refused  it takes no artifact executable
`),
    );
  });

  test('says why its children were not started', () => {
    const stopped = children({
      state: 'failed',
      reason: '2 of 5 that go first did not succeed',
      waiting: 0,
      notStarted: 290,
      running: 0,
    });
    const shown = renderRelease(release({ children: stopped }), [], view);
    expect(shown).toMatch(/Children {2}✖ failed .* 290 not started\n {2}2 of 5 that go first did not succeed\n/);
  });

  test('says until when an action waits where no narrow screen cuts it', () => {
    const until = '2026-11-23T17:00:00.000Z';
    const blocked = action({ name: 'deploy', state: 'blocked', blockedBy: 'its window is closed', until, ...notBegun });
    const shown = renderRelease(release({ actions: [blocked, { ...pick, until }] }), [], { ...view, width: 80 });
    expect(shown).toContain('\nWaits:     deploy, until 23 Nov 17:00, in 3d 2h: its window is closed\n');
    expect(shown).toContain('\nWaits:     approve, until 23 Nov 17:00, in 3d 2h: for a person\n');
  });

  test('that is queued says what it waits for', () => {
    const waits = [{ release: 13, action: null, why: '5 releases run already (releases.maxActive)', until: null }];
    expect(renderRelease(release({ state: 'queued', actions: [] }), [], view, waits)).toContain(
      '\nWaits:     5 releases run already (releases.maxActive)\n',
    );
  });

  test.each([
    ['emergency', { reason: 'kv:12 loses writes' }, 'emergency by user:alice: kv:12 loses writes'],
    ['parent', { parent: 'inference/3' }, 'parent by user:alice, child of inference/3'],
    ['rollback', { of: 12 }, 'rollback by user:alice, undoes release 12'],
    ['follow-on', { of: 12 }, 'follow-on by user:alice, for units that release 12 left out'],
  ] as const)('says why there is one by %s', (kind, over, words) => {
    const trigger = { kind, actor: 'user:alice', key: null, ...over };
    expect(renderRelease(release({ trigger }), [], view)).toContain(`Trigger:   ${words}\n`);
  });
});

describe('the picture of a pipeline', () => {
  const stopped = { actor: 'user:eve', at: '2026-11-20T14:00:10.000Z', reason: 'the network is moved' };

  test('shows its schedule, waits with their ends, exclusions, and the latest inputs', () => {
    const shown = renderPipeline(
      pipeline({
        schedule: {
          mode: 'calendar',
          gates: 'deploys',
          next: '2026-11-23T18:00:00.000Z',
          timezone: 'America/Los_Angeles',
        },
        waits: [
          {
            release: 13,
            action: 'deploy',
            why: 'waiting for the calendar (0 10 * * 1-4)',
            until: '2026-11-23T18:00:00.000Z',
          },
          { release: 14, action: null, why: '5 releases run already (releases.maxActive)', until: null },
        ],
        groups: [
          { name: 'deploy', scope: 'pipeline', holder: 12, waiting: [13] },
          { name: 'prod', scope: 'global', holder: null, waiting: [] },
        ],
        inputs: [{ name: 'source', kind: 'source', version: '13', metadata: {} }],
      }),
      { ...view, width: 130 },
    );
    expect(shown).toBe(
      picture(`
Pipeline:  kvstore
About:     Sharded key-value store
Status:    ✔ active
Schedule:  calendar of America/Los_Angeles, for deploys; next 23 Nov 18:00, in 3d 3h
Owners:    group:storage
Inputs:    source=13

Waiting
  kvstore/13/deploy  waiting for the calendar (0 10 * * 1-4) (until 23 Nov 18:00, in 3d 3h)
  kvstore/14         5 releases run already (releases.maxActive)

Exclusion
  deploy    held by release 12  release 13 waits

In production
  deploy  kv:12  since release 12

RELEASE     STATE      ARTIFACTS  STARTED  TOOK
kvstore/13  ◌ running  source=13  50s ago  50s

Next
  conveyor watch kvstore/13
Web UI  http://localhost:8233/p
`),
    );
  });

  test('shows who froze and who holds it, and how to end that', () => {
    const shown = renderPipeline(
      pipeline({ state: 'frozen', frozen: stopped, held: { ...stopped, reason: 'two reverts in a row' } }),
      view,
    );
    expect(shown).toContain(
      'Status:    ‖ frozen and held\nFrozen:    by user:eve 2m ago: the network is moved\nHeld:      by user:eve',
    );
    expect(shown).toContain('Next\n  conveyor unfreeze kvstore --reason "…"\n  conveyor unhold kvstore --reason "…"\n');
  });

  test('shows until when it is frozen, in status and in lists', () => {
    const until = '2026-11-20T16:02:20.000Z';
    const frozen = { ...stopped, until };
    const shown = renderPipeline(pipeline({ state: 'frozen', frozen }), { ...view, timeZone: 'Europe/Berlin' });
    expect(shown).toContain(
      'Frozen:    by user:eve 2m ago: the network is moved (until 17:02:20 (16:02 UTC), in 2h)\n',
    );
    const row = pipelineTable([pipeline({ state: 'frozen', frozenUntil: until })], view);
    expect(row).toMatch(/^kvstore +‖ frozen until 16:02:20/m);
    expect(pipelineTable([pipeline({ state: 'frozen' })], view)).toMatch(/^kvstore +‖ frozen +13/m);
  });

  test.each([
    ['releases', 'manual: only a person starts a release'],
    ['deploys', 'manual: a person picks what is deployed'],
  ] as const)('says what a person does where %s are gated by hand', (gates, words) => {
    const schedule = { mode: 'manual', gates, next: null } as const;
    expect(renderPipeline(pipeline({ schedule }), view)).toContain(`Schedule:  ${words}\n`);
  });

  test('shows what a follow-on left behind, and the command that brings it', () => {
    const bring = 'conveyor release kvstore --artifact executable=kv:12';
    const behind = [{ action: 'deploy', units: ['kvstore-y'], version: 'kv:12', release: 13, bring }];
    const shown = renderPipeline(pipeline({ behind }), view);
    expect(shown).toMatch(/Left behind\n  kvstore-y +not on kv:12 +release 13 did not bring it\n/);
    expect(shown).toContain(bring);
  });
});

/** Rows as history gives them, by their ends. */
const rows = (
  ends: readonly [ReleaseStatus['state'], HistoryRow['cause'], ('reverted' | 'succeeded')?][],
): HistoryRow[] =>
  ends.map(([state, cause, outcome], at) => ({
    ...release({
      number: at + 1,
      id: `kvstore/${at + 1}`,
      state,
      cause,
      endedAt: state === 'running' ? null : '2026-11-20T14:02:00.000Z',
    }),
    durationMs: 1000,
    deploys: outcome ? [DEPLOYS[outcome]] : [],
  }));

const DEPLOYS: Record<'reverted' | 'succeeded', HistoryRow['deploys'][number]> = {
  succeeded: { action: 'deploy', outcome: 'succeeded', classification: 'success', version: 'kv:1' },
  reverted: { action: 'deploy', outcome: 'reverted', classification: 'good-failure', version: 'kv:1', progress: 0.05 },
};

describe('the summary of a history', () => {
  const week = rows([
    ['cancelled', 'superseded'],
    ['cancelled', 'superseded'],
    ['cancelled', 'superseded'],
    ['succeeded', null, 'succeeded'],
    ['failed', null, 'reverted'],
    ['failed', null],
    ['running', null],
  ]);

  test('is a table of end states and causes, the most frequent first', () => {
    expect(renderHistorySummary(summarizeHistory('kvstore', week), view)).toBe(
      picture(`
STATE        CAUSE       RELEASES  SHARE
⚠ cancelled  superseded  3         50.0%
✖ failed     reverted    1         16.7%
✖ failed     –           1         16.7%
✔ succeeded  –           1         16.7%

6 releases of kvstore that ended, the first of 14:01:20; 1 has not ended yet
2 deploys: 1 succeeded, 1 good failure, 0 bad failures; 100.0% success or good failure
failed after 5% of the tasks
`),
    );
  });

  test('adds up, and says so when nothing has ended', () => {
    const { ends, releases } = summarizeHistory('kvstore', week);
    expect(ends.reduce((sum, { count }) => sum + count, 0)).toBe(releases);
    expect(renderHistorySummary(summarizeHistory('kvstore', []), view)).toMatch(/^no release has ended yet\n/);
  });

  test('is what history --summary prints, also as JSON; without it history is as before', async () => {
    const client = { history: () => Promise.resolve(week) };
    expect((await run(['history', 'kvstore', '--summary'], { client })).out).toMatch(/^STATE +CAUSE/);
    expect(JSON.parse((await run(['history', 'kvstore', '--summary', '-o', 'json'], { client })).out)).toMatchObject({
      pipeline: 'kvstore',
      releases: 6,
      running: 1,
      ends: [{ state: 'cancelled', cause: 'superseded', count: 3, percent: 50 }, {}, {}, {}],
    });
    expect(JSON.parse((await run(['history', 'kvstore', '-o', 'json'], { client })).out)).toHaveLength(7);
  });
});

test('history shows the cause beside the state, and by which release where it made way', () => {
  const [row] = rows([['cancelled', 'superseded']]);
  expect(historyTable([{ ...row!, causedBy: 13 }], view)).toMatch(/cancelled \(superseded by 13\)/);
  expect(historyTable(rows([['cancelled', 'superseded']]), view)).toMatch(/cancelled \(superseded\)/);
});

test('a log says once who may pick and what they type', () => {
  const approve = action({
    name: 'approve',
    type: 'manual-pick',
    state: 'blocked',
    pickBy: ['group:storage'],
    ...notBegun,
  });
  const seen: WatchSnapshot = { release: release({ actions: [approve], timeline: [] }), waits: [], deploys: [] };
  expect(logLines(null, seen)).toEqual([
    '2026-11-20T14:01:20Z  kvstore/13  ◷ approve waits for group:storage: conveyor pick kvstore/13/approve --approve --reason "…"',
  ]);
  expect(logLines(seen, seen)).toEqual([]);
});

test('a log says why a release has not started and until when, and again only if that changes', () => {
  const waits = (why: string) => [{ release: 13, action: null, why, until: '2026-11-20T20:00:00.000Z' }];
  const queued = (why: string): WatchSnapshot => ({
    release: release({ state: 'queued', actions: [], timeline: [] }),
    waits: waits(why),
    deploys: [],
  });
  const frozen = queued('the pipeline is frozen by user:eve: moving');
  const line = (why: string): string => `2026-11-20T14:01:20Z  kvstore/13  ◷ waits: ${why} until 2026-11-20T20:00:00Z`;
  expect(logLines(null, frozen)).toEqual([
    '2026-11-20T14:01:20Z  kvstore/13  ◷ queued',
    line('the pipeline is frozen by user:eve: moving'),
  ]);
  expect(logLines(frozen, frozen)).toEqual([]);
  expect(logLines(frozen, queued('waiting for the calendar'))).toEqual([line('waiting for the calendar')]);
});

test('watching a parent ends with it, and says that its children continue', async () => {
  const status = () => Promise.resolve(release({ state: 'succeeded', actions: [], children: children() }));
  const ran = await run(['watch', 'kvstore/13'], { client: { status } });
  expect(ran.code).toBe(0);
  expect(ran.err).toContain('its children continue: conveyor status kvstore/13');
});

test('the status of a queued release asks its pipeline what it waits for', async () => {
  const waits = [{ release: 13, action: null, why: 'waiting for the calendar', until: null }];
  const status = (id: string): Promise<never> =>
    Promise.resolve((id === 'kvstore' ? pipeline({ waits }) : release({ state: 'queued', actions: [] })) as never);
  expect((await run(['status', 'kvstore/13'], { client: { status } })).out).toContain(
    'Waits:     waiting for the calendar\n',
  );
});
