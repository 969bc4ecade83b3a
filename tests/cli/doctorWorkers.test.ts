import { examinationChecks } from '../../cli/doctor/examination';
import { temporalCheck } from '../../cli/doctor/temporal';
import { workerChecks } from '../../cli/doctor/workers';
import type { ExaminationEnd, ExaminationView, ExtensionLook } from '../../domain/examination';

const at = '2026-11-27T18:00:00.000Z';
const poller = (identity: string) => ({ identity, build: null, lastPollAt: at });
const view = (end: ExaminationEnd, more: Partial<ExaminationView> = {}): ExaminationView => ({
  ...{ taskQueue: 'conveyor', pollers: [poller('12@one'), poller('34@two')], lastPollAt: at, end },
  ...{ backlogs: [], clockAheadMs: 0, namespace: 'default', attributes: null, builds: null, listing: null },
  ...more,
});
const look = (kind: string, name: string, trouble: string | null): ExtensionLook => ({
  ...{ kind, name, address: 'http://here:4400/…', trouble },
});
const POLL = `12@one (last poll: ${at}) and 34@two (last poll: ${at}) poll the task queue conveyor`;

describe('workers', () => {
  test('are in order where one answered, and each extension that did not answer it is broken', () => {
    const extensions = [look('push-type', 'twine', 'connect ECONNREFUSED'), look('action-service', 'build', null)];
    expect(workerChecks(view({ kind: 'answered', tookMs: 300, extensions, unused: [] }))).toEqual([
      { name: 'workers', state: 'ok', found: `${POLL}; one answered within 300ms`, how: null },
      { name: 'extensions', state: 'ok', found: '1 extension of 2 answer the workers', how: null },
      {
        ...{ name: 'push-type twine', state: 'missing' },
        found: 'no usable answer for the workers at http://here:4400/…: connect ECONNREFUSED',
        how: expect.stringContaining('start its service') as string,
      },
    ]);
  });

  test('are in order without a push type that is configured, and that no deploy has used', () => {
    const extensions = ['one', 'two'].map((name) => look('push-type', name, 'no answer'));
    const checks = workerChecks(view({ kind: 'answered', tookMs: 300, extensions, unused: ['one', 'two'] }));
    expect(checks.map(({ state }) => state)).toEqual(['ok', 'ok']);
    expect(checks[1]?.found).toBe('0 extensions of 2 answer the workers; not one and two, which no deploy has used');
  });

  test.each<[why: string, end: ExaminationEnd, found: string, how: RegExp]>([
    [
      'none answered, with the one that was given work',
      { kind: 'silent', withinMs: 15_000, takenBy: '34@two' },
      `${POLL}, and none answered within 15s; 34@two was given work and did nothing`,
      /^on two: ps -o stat,etime,args -p 34 .*kill -9 34 ends it; then conveyor worker starts another/,
    ],
    [
      'none answered, also where a worker has a name of its own',
      { kind: 'silent', withinMs: 15_000, takenBy: 'blue' },
      `${POLL}, and none answered within 15s; blue was given work and did nothing`,
      /^end blue; then conveyor worker/,
    ],
    [
      'one began and came to no end',
      { kind: 'stuck', withinMs: 15_000 },
      `${POLL}; one began, and did not ask the extensions within 15s`,
      /add workers$/,
    ],
    [
      'none polls',
      { kind: 'unpolled' },
      `no worker polls the task queue conveyor (last poll: ${at}), so everything waits for one`,
      /^conveyor worker;/,
    ],
  ])('are broken where %s', (_why, end, found, how) => {
    const broken = { name: 'workers', state: 'missing', found, how: expect.stringMatching(how) as string };
    expect(workerChecks(view(end))).toEqual([broken]);
  });

  test('that refuse an examination work all the same', () => {
    expect(workerChecks(view({ kind: 'refused', reason: 'no such function' }))).toMatchObject([
      { name: 'workers', state: 'warning', found: `${POLL}; one answered, but asked no extension: no such function` },
    ]);
  });

  test('missing workers of a build are named only by the check of builds', () => {
    expect(workerChecks(view({ kind: 'unpolled' }, { build: 'b' }))).toEqual([]);
  });

  test('are many, of which some are named', () => {
    const pollers = [1, 2, 3, 4, 5, 6].map((pid) => poller(`${pid}@one`));
    const [check] = workerChecks(view({ kind: 'stuck', withinMs: 1_000 }, { pollers }));
    expect(check?.found).toMatch(/4@one \(last poll: .*\) and 2 more poll the task queue/);
  });
});

test('workers that are asked are those of the build that gets new work, whichever others poll', () => {
  const builds = { taskQueue: 'conveyor', current: null, polled: [null, '0.3.0'], stuck: [] };
  const pollers = [{ ...poller('12@one'), build: '0.3.0' }, poller('34@two')];
  const [check] = workerChecks(view({ kind: 'silent', withinMs: 15_000, takenBy: null }, { builds, pollers }));
  expect(check?.found).toBe(`34@two (last poll: ${at}) polls the task queue conveyor, and none answered within 15s`);
  expect(check?.how).toMatch(/kill -9 34 /);
});

test('a Temporal server that answers and writes nothing is broken, with where to look', () => {
  expect(workerChecks(view({ kind: 'unwritten', reason: 'database or disk is full' }))).toEqual([
    {
      ...{ name: 'Temporal writes', state: 'missing' },
      found: 'no: it answers, but accepted no new workflow: database or disk is full',
      how: expect.stringMatching(/full, read-only or gone.*temporal\.log.*df of the folder of its database/) as string,
    },
  ]);
});

test('a Temporal server that throttles is not taken for one that writes nothing', () => {
  const [check] = workerChecks(view({ kind: 'unbegun', reason: '8 RESOURCE_EXHAUSTED: too many requests' }));
  expect(check).toMatchObject({
    ...{ name: 'Temporal writes', state: 'missing' },
    found: 'unknown: it answers, but started no new workflow: 8 RESOURCE_EXHAUSTED: too many requests',
    how: expect.stringContaining('throttles') as string,
  });
  expect(check?.how).not.toContain('full');
});

describe('a Temporal server', () => {
  test.each([
    ['absent', 'localhost:7233', 'warning'],
    ['absent', 'temporal.internal:7233', 'missing'],
    ['mute', 'localhost:7233', 'missing'],
    ['mute', 'temporal.internal:7233', 'missing'],
    ['stranger', 'localhost:7233', 'missing'],
  ] as const)('that is %s at %s is %s: on this machine nothing may have been started yet', (kind, address, state) => {
    const check = temporalCheck(address, { kind });
    expect(check.state).toBe(state);
    expect(check.how?.includes('lsof')).toBe(kind !== 'absent' && address.startsWith('localhost'));
  });
});

test.each([
  ['plain', 'the server there speaks no TLS, and this client uses it', /^TEMPORAL_TLS turns TLS on/],
  ['tls', 'the server there speaks only TLS, and this client does not use it', /^set TEMPORAL_TLS=true/],
] as const)('a Temporal server that is %s where this side is not is never called frozen', (kind, found, how) => {
  const { state, ...check } = temporalCheck('temporal.internal:7233', { kind, settings: ['TEMPORAL_TLS'] });
  expect([state, check.found]).toEqual(['missing', `no Temporal server answers at temporal.internal:7233: ${found}`]);
  expect(check.how).toMatch(how);
});

describe('a queue in which work has waited for half a minute', () => {
  const late = { queue: 'looks', kind: 'activity', build: '', tasks: 3, ageMs: 31_000 } as const;
  const ofBuild = { ...late, queue: 'main', kind: 'workflow', build: 'b', tasks: 1, ageMs: 90_000 } as const;
  const backlogs = [late, ofBuild, { ...late, ageMs: 29_000 }];
  const seen = (end: ExaminationEnd, more: Partial<ExaminationView> = {}) =>
    examinationChecks(view(end, { backlogs, ...more }), 'this machine').filter(({ name }) =>
      name.startsWith('backlog'),
    );

  test('is broken where workers poll it, with how much waits, for how long, and what gives it more of them', () => {
    const nothing = /; nothing is lost meanwhile$/.source;
    const polling = [poller('12@one'), { ...poller('34@two'), build: 'b' }];
    expect(seen({ kind: 'refused', reason: '' }, { pollers: polling })).toEqual([
      {
        ...{ name: 'backlog of looks', state: 'missing' },
        found: '3 activity tasks wait for a worker, the oldest for 31s',
        how: expect.stringMatching(
          `^conveyor worker starts another worker, or raise slots.looks .*${nothing}`,
        ) as string,
      },
      {
        ...{ name: 'backlog of main', state: 'missing' },
        found: '1 workflow task of build b waits for a worker, the oldest for 1m 30s',
        how: expect.stringMatching(`^conveyor worker --build b starts another worker; .*${nothing}`) as string,
      },
    ]);
  });

  test('is a warning where no worker polls it: Temporal keeps counting tasks of workflows that ended or moved', () => {
    const answered = { kind: 'answered', tookMs: 300, extensions: [], unused: [] } as const;
    const builds = { taskQueue: 'conveyor', current: null, polled: [null], stuck: [] };
    expect(seen(answered, { builds }).map(({ state }) => state)).toEqual(['warning', 'warning']);
  });

  test.each<[why: string, end: ExaminationEnd, more: Partial<ExaminationView>]>([
    ['no worker answers', { kind: 'silent', withinMs: 15_000, takenBy: null }, {}],
    ['Temporal stores nothing', { kind: 'unwritten', reason: 'database or disk is full' }, {}],
    [
      'no worker has the current build',
      { kind: 'unpolled' },
      { build: 'c', builds: { taskQueue: 'conveyor', current: 'c', polled: [], stuck: [] } },
    ],
  ])('follows from what another check says where %s', (_why, end, more) => {
    expect(seen(end, more)).toMatchObject([
      { state: 'warning', how: 'repair the workers first: see the check above' },
      { state: 'warning' },
    ]);
  });
});

test('lists that lag or do not answer are named with what is untrue meanwhile, and are broken once they are far behind', () => {
  const seen = (listing: ExaminationView['listing']) =>
    workerChecks(view({ kind: 'refused', reason: '' }, { listing })).slice(1);
  const how = expect.stringMatching(/conveyor list, .*status, commands and deploys need no list/) as string;
  const found = (seconds: number) =>
    `Temporal's lists lag: a workflow was still missing from them ${seconds}s after its start`;
  expect([...seen({ kind: 'late', withinMs: 5_000 }), ...seen({ kind: 'late', withinMs: 15_000 })]).toEqual([
    { name: 'lists', state: 'warning', how, found: found(5) },
    { name: 'lists', state: 'missing', how, found: found(15) },
  ]);
  expect(seen({ kind: 'silent', reason: 'the store is away' })).toEqual([
    { name: 'lists', state: 'missing', how, found: "Temporal's lists do not answer: the store is away" },
  ]);
  expect([seen({ kind: 'listed' }), seen(null)]).toEqual([[], []]);
});

test.each([
  [120_000, "Temporal's clock is 2m ahead of that of this machine"],
  [-45_000, "Temporal's clock is 45s behind that of this machine"],
])('a clock that differs from that of Temporal by %d ms is named', (clockAheadMs, found) => {
  const seen = (ms: number | null) =>
    workerChecks(view({ kind: 'refused', reason: '' }, { clockAheadMs: ms })).slice(1);
  expect(seen(clockAheadMs)).toMatchObject([{ name: 'clock', state: 'warning', found }]);
  expect([seen(null), seen(29_000), seen(-29_000)]).toEqual([[], [], []]);
});

test('a worker whose clock is seconds off is broken, with by how much and what to set', () => {
  const answered = { kind: 'answered', tookMs: 300, extensions: [], unused: [] } as const;
  const seen = (...clocks: { identity: string; aheadMs: number }[]) =>
    workerChecks(view({ ...answered, clocks })).slice(2);
  expect(seen({ identity: '12@one', aheadMs: 120_000 }, { identity: '34@two', aheadMs: -4_000 })).toEqual([
    {
      ...{ name: 'clock of a worker', state: 'missing', found: "that of 12@one is 2m ahead of Temporal's" },
      how: expect.stringMatching(/^set the clock of one by NTP/) as string,
    },
  ]);
  expect(seen({ identity: 'blue', aheadMs: -6_000 })).toMatchObject([
    { found: "that of blue is 6s behind Temporal's" },
  ]);
  expect(workerChecks(view(answered))).toHaveLength(2);
});

describe('questions that Temporal does not answer', () => {
  const denied = '7 PERMISSION_DENIED';
  const unanswered = [
    { subject: 'builds', reason: denied },
    { subject: 'backlogs', reason: '4 DEADLINE_EXCEEDED' },
    { subject: 'search attributes', reason: denied },
  ] as const;
  const found = (end: ExaminationEnd) =>
    examinationChecks(view(end, { unanswered }), 'this machine')
      .filter(({ name }) => name === 'Temporal answers')
      .map(({ state, found }) => [state, found]);

  test('are a warning each, once for each reason, and never look like an answer', () =>
    expect(found({ kind: 'answered', tookMs: 300, extensions: [], unused: [] })).toEqual([
      ['warning', `not about builds, search attributes: ${denied}`],
      ['warning', 'not about backlogs: 4 DEADLINE_EXCEEDED'],
    ]));

  test('are not listed where Temporal cannot store anything, which explains them', () =>
    expect(found({ kind: 'unwritten', reason: '14 UNAVAILABLE: database or disk is full' })).toEqual([]));
});
