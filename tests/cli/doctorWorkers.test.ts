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
        found: 'does not answer the workers at http://here:4400/…: connect ECONNREFUSED',
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
      `no worker polls the task queue conveyor (last poll: ${at}), and everything waits for one`,
      /^conveyor worker;/,
    ],
  ])('are broken where %s', (_why, end, found, how) => {
    const broken = { name: 'workers', state: 'missing', found, how: expect.stringMatching(how) as string };
    expect(workerChecks(view(end))).toEqual([broken]);
  });

  test('that refuse an examination work all the same', () => {
    expect(workerChecks(view({ kind: 'refused', reason: 'no such function' }))).toMatchObject([
      { name: 'workers', state: 'warning', found: `${POLL}; one answered, and asked no extension: no such function` },
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
      found: 'no: it answers, but took no new workflow: database or disk is full',
      how: expect.stringMatching(/full, read-only or gone.*temporal\.log.*df of the folder of its database/) as string,
    },
  ]);
});

test('a Temporal server that throttles is not taken for one that writes nothing', () => {
  const [check] = workerChecks(view({ kind: 'unbegun', reason: '8 RESOURCE_EXHAUSTED: too many requests' }));
  expect(check).toMatchObject({
    ...{ name: 'Temporal writes', state: 'missing' },
    found: 'not known: it answers, and began no new workflow: 8 RESOURCE_EXHAUSTED: too many requests',
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

test('work that waits for a worker for half a minute is a warning, with how much and how long', () => {
  const late = { queue: 'looks', kind: 'activity', build: '', tasks: 3, ageMs: 31_000 } as const;
  const builds = { ...late, queue: 'main', build: 'b', ageMs: 90_000 } as const;
  const backlogs = [late, builds, { ...late, ageMs: 29_000 }];
  const checks = workerChecks(view({ kind: 'refused', reason: '' }, { backlogs })).slice(1);
  expect(checks.map(({ name, state, found }) => [name, state, found])).toEqual([
    ['backlog of looks', 'warning', '3 activity tasks wait for a worker, the oldest for 31s'],
    ['backlog of main', 'warning', '3 activity tasks of build b wait for a worker, the oldest for 1m 30s'],
  ]);
});

test('lists that lag or do not answer are named with what is untrue meanwhile, and are no reason to look for more', () => {
  const seen = (listing: ExaminationView['listing']) =>
    workerChecks(view({ kind: 'refused', reason: '' }, { listing })).slice(1);
  const how = expect.stringMatching(/conveyor list, .*status, commands and deploys need no list/) as string;
  expect(seen({ kind: 'late', withinMs: 5_000 })).toEqual([
    {
      ...{ name: 'lists', state: 'warning', how },
      found: "Temporal's lists lag: a workflow was in none of them 5s after its start",
    },
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
