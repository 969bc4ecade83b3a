import fc from 'fast-check';
import { renderChanges } from '../../render/changes';
import { changesBetween } from '../../domain/changes';
import { renderDeploy } from '../../render/deploy';
import { historyTable, releaseTable } from '../../render/lists';
import { truncate, fold, measureWidth, wrap, type View } from '../../render/paint';
import { renderPipeline } from '../../render/pipeline';
import { renderRelease } from '../../render/release';
import { forPeople } from '../../render/times';
import { action, deploy, NOW, phase, pipeline, release, revertedDeploy } from '../builders/cliSamples';

const view: View = { width: 110, color: false, now: NOW, timeZone: 'UTC' };

/** A picture without the line breaks around it. */
const picture = (text: string): string => text.replace(/^\n|\n *$/g, '');

describe('the picture of a deploy', () => {
  test('shows what bakes and until when, the verdict with its figures, and what to type next', () => {
    expect(renderDeploy(deploy(), view)).toBe(
      picture(`
Deploy:    kvstore/13/deploy
Status:    ◷ baking  phase first bakes
Version:   kv:13 by twine
Time:      started 14:01:30, running 40s

kvstore/13/deploy                 ◷ baking               kv:13
├─ 1 first         3 of region:x  ◷ baking   ██████████  3/3 live  bake ends in 42s
│  └─ kvstore-x                              ██████████  3/3 live
└─ 2 completion    100% of *      · waiting

Health
  ✔ healthy  kvstore-x  errors  0.0123, limit 0.05 (18 samples)

Timeline
  14:01:32  phase-started  first: 3 tasks of kvstore-x
  14:01:50  updates-done   first: 3 tasks live

Next
  conveyor pause kvstore/13/deploy --reason "…"
Web UI  http://localhost:8233/w
`),
    );
  });

  test('shows who paused it, when and why, above everything else', () => {
    const paused = {
      by: 'operator',
      actor: 'user:alice',
      at: '2026-11-20T14:02:00.000Z',
      reason: 'latency looks odd',
    } as const;
    expect(renderDeploy(deploy({ paused }), view).split('\n').slice(1, 3)).toEqual([
      'Status:    ‖ paused (baking)  phase first bakes',
      'Paused:    ‖ by user:alice 10s ago: latency looks odd',
    ]);
  });

  test('shows the verdict that reverted it and what each unit went back to', () => {
    expect(renderDeploy(revertedDeploy(), view)).toBe(
      picture(`
Deploy:    kvstore/13/deploy
Status:    ↩ reverted (good-failure)  errors of kvstore-x is unhealthy
Version:   kv:13 by twine
Time:      started 14:01:30, took 38s (update 18s, bake 20s)

kvstore/13/deploy                 ↩ reverted    kv:13
├─ 1 first         3 of region:x  ↩ reverted           taken back
└─ 2 completion    100% of *      · waiting

Health
  ✖ unhealthy  kvstore-x  errors  0.213, limit 0.05 (9 samples)
      the mean of 3 tasks is above the limit

Revert  by health, took 7s
  kvstore-x  back to kv:12  3/3 live

Timeline
  14:02:01  reverting

Web UI  http://localhost:8233/w
`),
    );
  });

  test('folds the phases far from the one that runs', () => {
    const phases = Array.from({ length: 43 }, (_, index) =>
      phase({ index, name: `p${index + 1}`, state: index < 20 ? 'succeeded' : index === 20 ? 'running' : 'waiting' }),
    );
    const tree = renderDeploy(deploy({ phases, health: [], timeline: [] }), view)
      .split('\n')
      .filter((line) => /^[├└]/.test(line));
    expect(tree).toHaveLength(10);
    expect(tree[0]).toMatch(/^├─ 17 phases before +succeeded$/);
    expect(tree[4]).toMatch(/^├─ 21 p21 +3 of region:x +◌ updating$/);
    expect(tree[9]).toMatch(/^└─ 18 phases after +waiting$/);
  });

  test('it shows the unfinished ones of many units first and counts the others', () => {
    const units = Array.from({ length: 30 }, (_, index) => ({
      id: `job-${index}`,
      targeted: 4,
      updated: 4,
      live: index === 29 ? 1 : 4,
    }));
    const tree = renderDeploy(
      deploy({ phases: [phase({ state: 'running', startedAt: '2026-11-20T14:02:00.000Z', units })] }),
      view,
    );
    expect(tree).toMatch(/├─ job-29 +██▓{8} {2}1\/4 live +3 updated, not live yet/);
    expect(tree).toMatch(/└─ 22 more units, all done/);
  });

  test.each([
    ['more are live than were targeted', { updated: 4, live: 4 }, '██████████  4/3 live'],
    ['more are updated than were targeted', { updated: 9, live: 1 }, '███▓▓▓▓▓▓▓  1/3 live'],
  ])('a bar is never longer than its place, even if %s', (_title, counts, shown) => {
    const units = [{ id: 'kvstore-x', targeted: 3, ...counts }];
    expect(renderDeploy(deploy({ phases: [phase({ state: 'running', units })] }), view)).toContain(shown);
  });

  test('puts the unhealthy check on top of the healthy ones', () => {
    const [row] = deploy().health;
    const health = [row!, { ...row!, check: 'cpu', verdict: 'unhealthy' as const }];
    const shown = renderDeploy(deploy({ health }), view).split('\n');
    expect(shown[shown.indexOf('Health') + 1]).toMatch(/^ {2}✖ unhealthy +kvstore-x {2}cpu/);
  });

  test('has no line wider than the terminal, with colours or without', () => {
    for (const color of [true, false])
      for (const width of [40, 80])
        for (const line of renderDeploy(revertedDeploy(), { ...view, width, color }).split('\n'))
          expect(measureWidth(line)).toBeLessThanOrEqual(width);
  });
});

describe('the picture of a release', () => {
  test('is a tree from actions over deploys and phases to units', () => {
    expect(renderRelease(release(), [deploy()], view)).toBe(
      picture(`
Release:   kvstore/13
Status:    ◌ running
Now:       phase first bakes
Artifacts: source=13
Trigger:   manual by user:alice
Time:      started 14:01:20, running 50s

├─ build              build          ✔ succeeded                        9s
├─ deploy             deploy         ◌ running                          40s
│  kvstore/13/deploy                 ◷ baking                 kv:13
│  ├─ 1 first         3 of region:x  ◷ baking     ██████████  3/3 live  bake ends in 42s
│  │  └─ kvstore-x                                ██████████  3/3 live
│  └─ 2 completion    100% of *      · waiting
└─ publish            pkg            · waiting                          after deploy

Health
  ✔ healthy  kvstore-x  errors  0.0123, limit 0.05 (18 samples)

Timeline
  14:01:20  started        by user:alice
  14:01:32  phase-started  first: 3 tasks of kvstore-x
  14:01:50  updates-done   first: 3 tasks live

Next
  conveyor pause kvstore/13/deploy --reason "…"
Web UI  http://localhost:8233/r
`),
    );
  });

  test('says which release holds what is waited for, since when, and how to look at that', () => {
    const heldBy = { id: 'search/4', since: '2026-11-20T13:50:00.000Z' };
    const waits = { state: 'blocked', blockedBy: 'waiting for rig, which others hold', lock: 'lock/rig' } as const;
    const text = renderRelease(release({ actions: [action({ ...waits, heldBy })] }), [], view);
    expect(text).toContain('which others hold; held by search/4 since 13:50:00');
    expect(text).toContain('Next\n  conveyor status search/4\n');
    const old = renderRelease(
      release({ actions: [action({ ...waits, heldBy: { ...heldBy, since: null } })] }),
      [],
      view,
    );
    expect(old).toMatch(/; held by search\/4$/m);
    expect(renderRelease(release({ actions: [action(waits)] }), [], view)).not.toContain('held by');
  });

  test('says of a deploy that waits for a service who deploys that', () => {
    const held = { lock: 'lock/twine/kvstore', heldBy: { id: 'search/4', since: '2026-11-20T13:50:00.000Z' } };
    const text = renderDeploy(deploy({ state: 'waiting-lock', ...held }), view);
    expect(text).toMatch(/^Held by: +search\/4 since 13:50:00 \(\S+ \S+ ago\), according to lock\/twine\/kvstore$/m);
  });

  test('says what a blocked action waits for and until when', () => {
    const blocked = action({
      name: 'deploy',
      type: 'deploy',
      state: 'blocked',
      startedAt: null,
      endedAt: null,
      blockedBy: 'the window is closed',
      until: '2026-11-21T09:00:00.000Z',
    });
    expect(renderRelease(release({ actions: [blocked] }), [], view)).toContain(
      '◷ blocked      the window is closed (until 21 Nov 09:00, in 18h 57m)',
    );
  });

  test('says who paused the release itself, when and why, and what makes it continue', () => {
    const pause = {
      at: '2026-11-20T14:02:00.000Z',
      verb: 'pause',
      actor: 'user:bob',
      reason: 'lunch',
      accepted: true,
    } as const;
    const text = renderRelease(release({ state: 'paused', commands: [pause] }), [], view);
    expect(text).toMatch(/Paused: +. kvstore\/13 by user:bob .* ago: lunch/);
    expect(text).toContain('conveyor resume kvstore/13 --reason "…"');
  });
});

test.each([
  ['a deploy that bakes', {}],
  [
    'one that is paused while it bakes',
    { paused: { by: 'health', actor: null, at: new Date(NOW).toISOString(), reason: 'no data' } } as const,
  ],
])('%s says once until when, and how long that is', (_, more) => {
  const bakes = 'baking phase first (1 of 2) until 2026-11-20T14:02:52.000Z; frozen by user:alice';
  const baking = forPeople(deploy({ summary: bakes, ...more }), view);
  for (const text of [renderDeploy(baking, view), renderRelease(release(), [baking], view)]) {
    expect(text.match(/14:02:52/g)).toHaveLength(1);
    expect(text.match(/in 42s/g)).toHaveLength(1);
    expect(text).toContain('baking phase first (1 of 2) until 14:02:52 (in 42s); frozen by user:alice');
    expect(text).toMatch(/1 first .*3\/3 live +updated in/);
  }
});

describe('breaking a text', () => {
  test('keeps every word, in lines no wider than asked', () => {
    const text = 'errors is 0.204, above the limit of 0.05 (mean of 3 tasks)';
    expect(wrap(text, 24)).toEqual(['errors is 0.204, above', 'the limit of 0.05 (mean', 'of 3 tasks)']);
    expect(wrap(text, 24).join(' ')).toBe(text);
  });

  test('keeps a command to type whole', () => {
    const lines = wrap('it waits: conveyor unfreeze web --reason "…" lets it continue', 30);
    expect(lines).toEqual(['it waits:', 'conveyor unfreeze web --reason "…"', 'lets it continue']);
  });
});

describe('tables', () => {
  test('history shows how each deploy ended and how long the release took', () => {
    const row = {
      ...release({ state: 'failed' }),
      durationMs: 48_000,
      deploys: [{ action: 'deploy', outcome: 'reverted', classification: 'good-failure', version: 'kv:13' } as const],
    };
    expect(historyTable([row], view)).toBe(
      picture(`
RELEASE     STATE     DEPLOYS                  ARTIFACTS  STARTED   TOOK
kvstore/13  ✖ failed  deploy kv:13 ↩ reverted  source=13  14:01:20  48s
`),
    );
  });

  test('history says of a release that runs that it is under way, and of one that deployed nothing nothing', () => {
    const row = { ...release({ state: 'running' }), durationMs: null, deploys: [] };
    expect(historyTable([row], view)).toMatch(/◌ running +under way +/);
    expect(historyTable([{ ...row, durationMs: 1 }], view)).toMatch(/◌ running +– +/);
  });

  test('a release that was undone says so wherever it is shown, and its own page says what runs now', () => {
    const at = new Date(NOW - 90_000).toISOString();
    const ended = release({ state: 'succeeded', endedAt: at, undone: { by: 'kvstore/14', at } });
    const runsNow = [{ action: 'deploy', version: 'kv:12', by: 'kvstore/14' }];
    expect(historyTable([{ ...ended, durationMs: 1, deploys: [] }], view)).toContain('↩ succeeded, undone by #14 ');
    expect(releaseTable([ended], view)).toContain('↩ succeeded, undone by #14 ');
    const page = renderRelease({ ...ended, runsNow }, [], view);
    expect(page).toContain('Status:    ↩ succeeded, undone by #14\n');
    expect(page).toContain('Undone:    by kvstore/14 1m 30s ago; kv:12 runs now, brought by kvstore/14\n');
    const own = deploy({ state: 'ended', outcome: 'succeeded', endedAt: at, undone: ended.undone!, runsNow });
    expect(renderDeploy(own, view)).toContain('Undone:    by kvstore/14 1m 30s ago; kv:12 runs now');
  });

  test('a release that is being undone says so, and does not look as if it was undone', () => {
    const undone = { by: 'kvstore/14', at: null };
    const ended = release({ state: 'succeeded', endedAt: new Date(NOW).toISOString(), undone });
    expect(releaseTable([ended], view)).toContain('✔ succeeded, being undone by #14 ');
    expect(renderRelease(ended, [], view)).toContain('Undone:    by kvstore/14, which is under way\n');
  });

  test.each([
    ['queued', 'to be undone by #14, which waits', 'by kvstore/14, which waits'],
    ['paused', 'being undone by #14, which is paused', 'by kvstore/14, which is paused'],
  ] as const)('a release whose rollback is %s does not look as if it went back now', (state, words, line) => {
    const undone = { by: 'kvstore/14', at: null, state };
    const ended = release({ state: 'succeeded', endedAt: new Date(NOW).toISOString(), undone });
    expect(releaseTable([ended], view)).toContain(`✔ succeeded, ${words} `);
    expect(historyTable([{ ...ended, durationMs: 1, deploys: [] }], view)).toContain(`✔ succeeded, ${words} `);
    expect(renderRelease(ended, [], view)).toContain(`Undone:    ${line}\n`);
  });

  test('a version that is being undone is in production until the rollback is through', () => {
    const undoing = { release: 13, version: 'kv:24', by: 'kvstore/14' };
    const lastGood = { deploy: { release: 12, version: 'kv:23', undoing } };
    const page = renderPipeline(pipeline({ lastGood }), view);
    expect(page).toMatch(/deploy {2}kv:24 {2}since release 13; kvstore\/14 brings back kv:23/);
  });

  test('an empty table says what to do instead of showing a heading', () => {
    expect(historyTable([], view)).toBe('no releases yet');
  });
});

describe('differences between two specs', () => {
  const before = {
    owners: ['user:alice'],
    actions: {
      deploy: {
        with: {
          phases: [
            { name: 'first', bake: 600_000, amount: { count: 3 } },
            { name: 'half', bake: 1 },
          ],
        },
      },
    },
  };

  test('are listed path by path, named list items by name, durations and amounts as in the file', () => {
    const after = {
      owners: ['user:alice', 'user:bob'],
      actions: { deploy: { with: { phases: [{ name: 'first', bake: 300_000, amount: { percent: 5 } }] } } },
      labels: { tier: 'storage' },
    };
    expect(renderChanges(changesBetween(before, after), view).split('\n')).toEqual([
      '  ~ owners: ["user:alice"] → ["user:alice","user:bob"]',
      '  ~ actions.deploy.with.phases.first.bake: 10m → 5m',
      '  ~ actions.deploy.with.phases.first.amount: 3 → 5%',
      '  - actions.deploy.with.phases.half: {"name":"half","bake":1}',
      '  + labels: {"tier":"storage"}',
    ]);
  });

  test('none are found between equal specs, whatever the order of their keys', () => {
    expect(changesBetween({ a: 1, b: { c: 2, d: undefined } }, { b: { c: 2 }, a: 1 })).toEqual([]);
  });

  test('a changed order of named items is a difference', () => {
    const phases = before.actions.deploy.with.phases;
    expect(changesBetween({ phases }, { phases: [...phases].reverse() })).toEqual([
      { path: 'phases', from: ['first', 'half'], to: ['half', 'first'] },
    ]);
  });
});

describe('cutting a line', () => {
  test.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abcde…'],
    ['\u001b[31mabcdefg\u001b[39m', 4, '\u001b[31mabc…\u001b[39m'],
    ['日本語日本語', 6, '日本…'],
  ])('%j to %i columns', (line, width, expected) => {
    expect(truncate(line, width)).toBe(expected);
  });

  test.each([
    ['kvstore/13/deploy', 10, '…13/deploy'],
    ['\u001b[1mkvstore/13\u001b[22m', 4, '\u001b[1m…/13\u001b[22m'],
    ['日本語日本語', 6, '…本語'],
  ])('%j at its start, to %i columns', (line, width, expected) => {
    expect(truncate(line, width, 'start')).toBe(expected);
  });
});

describe('folding a line', () => {
  test.each([
    ['  waits for the lock', 30, ['  waits for the lock']],
    [
      '  14:03  paused  by health: symlinks did not answer',
      40,
      ['  14:03  paused  by health: symlinks did', '                 not answer'],
    ],
    ['it goes to https://ci.example/4711 now', 26, ['it goes to', '  https://ci.example/4711', '  now']],
    ['it goes to https://ci.example/4711', 16, ['it goes to', 'https://ci.example/4711']],
    ['it lies in /root/.cache/test-server', 16, ['it lies in', '/root/.cache/test-server']],
    ['polls nothing: conveyor worker --build 0.4.0', 32, ['polls nothing:', '  conveyor worker --build 0.4.0']],
    ['start it (conveyor worker --build 0.4.0)', 24, ['start it', '(conveyor worker --build 0.4.0)']],
    [
      'by bob: conveyor resume kvstore/13 --reason "…" lets it continue',
      44,
      ['by bob:', '  conveyor resume kvstore/13 --reason "…"', '  lets it continue'],
    ],
    [
      'read it: conveyor logs kvstore/13/build says more',
      34,
      ['read it:', '  conveyor logs kvstore/13/build', '  says more'],
    ],
    [
      'type \u001b[36mnpx --no-install conveyor lint a.yaml\u001b[39m now',
      40,
      ['type', '  \u001b[36mnpx --no-install conveyor lint a.yaml\u001b[39m', '  now'],
    ],
    ['    → see its log: it was stopped', 22, ['    → see its log: it', '      was stopped']],
    ['error: no-worker: no worker answers', 26, ['error: no-worker: no', '       worker answers']],
    ['hint: start one, and look again', 24, ['hint: start one, and', '      look again']],
    ['Artifacts: source=12 executable=kv:12', 28, ['Artifacts: source=12', '           executable=kv:12']],
    [
      '\u001b[1mNow:      \u001b[22m updating tasks to kv:16',
      30,
      ['\u001b[1mNow:\u001b[22m       updating tasks to', '           kv:16'],
    ],
    [
      '\u001b[1mpipeline.yaml:3:9\u001b[22m: warning no-such',
      18,
      ['\u001b[1mpipeline.yaml:3:9\u001b[22m:', '  warning no-such'],
    ],
    ['it is at examples/kvstore/pipeline.yaml:32:9', 16, ['it is at', 'examples/kvstore/pipeline.yaml:32:9']],
    [
      'away: mv /a/temporal.db /a/temporal.db.1 && mv /a/x /a/x.1',
      40,
      ['away:', '  mv /a/temporal.db /a/temporal.db.1 &&', '  mv /a/x /a/x.1'],
    ],
    [
      'to look: ps -o stat,etime,args -p 29200 shows it',
      30,
      ['to look:', 'ps -o stat,etime,args -p 29200', '  shows it'],
    ],
    [
      "or A=/b conveyor restore '/mnt/my disk' --db '/a b' it is",
      50,
      ['or', "  A=/b conveyor restore '/mnt/my disk' --db '/a b'", '  it is'],
    ],
    ['a conveyor is what moves things on', 16, ['a conveyor is', '  what moves', '  things on']],
    ['\u001b[31mred as it is\u001b[39m', 8, ['\u001b[31mred as', '  it is\u001b[39m']],
  ])('%j to %i columns', (line, width, expected) => {
    expect(fold(line, width)).toEqual(expected);
  });

  test('loses nothing, and no line is too long', () => {
    const word = fc.string({ minLength: 1, maxLength: 30, unit: fc.constantFrom('a', 'é', '日', '\u001b[31m') });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(4), word)), fc.integer({ min: 12, max: 60 }), (drawn, width) => {
        const line = drawn.map(([spaces, text]) => ' '.repeat(spaces) + text).join('');
        const lines = fold(line, width);
        const bare = (text: string): string => text.replace(/ /g, '');
        expect(bare(lines.join(''))).toBe(bare(line));
        for (const each of lines) expect(measureWidth(each)).toBeLessThanOrEqual(width);
      }),
    );
  });
});
