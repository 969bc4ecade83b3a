import { actionOf, deployAction, endsOf, flow, slowAction, untilAction, CALM } from './flows';
import { HOUR, MINUTE, VirtualWorld } from './world';

const DAY = 24 * HOUR;
const ZONE = 'America/Los_Angeles';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const weekly = { mode: 'calendar', calendar: '0 10 * * 1', timezone: ZONE } as const;
const monday = (more: object = {}) => flow({ deploy: deployAction('5m') }, { schedule: weekly, ...more });

const FORMAT = new Intl.DateTimeFormat('en-GB', {
  ...({
    timeZone: ZONE,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  } as const),
});
/** The time on a clock in the zone, as `Mon 10:00`. */
const local = (ms: number): string => {
  const parts = Object.fromEntries(FORMAT.formatToParts(ms).map(({ type, value }) => [type, value]));
  return `${parts['weekday']} ${parts['hour']}:${parts['minute']}`;
};

/** Lets time pass until a clock in the zone shows this. */
async function until(wall: string): Promise<void> {
  let at = Math.ceil(((await world.now()) + 1) / MINUTE) * MINUTE;
  while (local(at) !== wall) at += MINUTE;
  await world.sleep(at - (await world.now()));
}

const begunAt = async (release: number): Promise<number> =>
  Date.parse((await world.deployStatus('kvstore', release)).startedAt);

/** Two releases arrive over the weekend; returns their state at ten on Monday. */
async function overTheWeekend(): Promise<number> {
  await until('Sat 12:00');
  await world.release('kvstore', 'kv:2');
  await until('Sun 12:00');
  await world.release('kvstore', 'kv:3');
  await until('Mon 09:59');
  const { actions } = await world.releaseStatus('kvstore', 2);
  expect(actions[0]).toMatchObject({ state: 'blocked', blockedBy: 'waiting for the calendar (0 10 * * 1)' });
  expect(local(Date.parse(actions[0]?.until ?? ''))).toBe('Mon 10:00');
  const { schedule } = await world.pipelineStatus('kvstore');
  expect(local(Date.parse(schedule?.next ?? ''))).toBe('Mon 10:00');
  await until('Mon 10:01');
  const begun = await begunAt(2);
  expect(local(begun)).toBe('Mon 10:00');
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2])).toEqual(['cancelled (superseded)', 'succeeded']);
  return begun;
}

test('when two releases are ready at the weekend the newer deploys on Monday at ten, the older is superseded', async () => {
  await world.apply(monday(), CALM);
  await overTheWeekend();
});

/** The offset of the zone's clocks from UTC, in minutes modulo a day. */
const offset = (ms: number): number => {
  const [hours = '0', minutes = '0'] = (local(ms).split(' ')[1] ?? '').split(':');
  const utc = new Date(ms);
  const ahead = (Number(hours) - utc.getUTCHours()) * 60 + Number(minutes) - utc.getUTCMinutes();
  return (ahead + 24 * 60) % (24 * 60);
};

test.each([
  ['forward', 60],
  ['back', -60],
])('ten is ten on the wall also after the night in which the clocks go %s', async (_, minutes) => {
  let day = await world.now();
  while (offset(day + DAY) - offset(day) !== minutes) day += DAY;
  await world.sleep(Math.max(0, day - 3 * DAY - (await world.now())));
  await world.apply(monday(), CALM);
  const begun = await overTheWeekend();
  expect(offset(begun) - offset(begun - 7 * DAY)).toBe(minutes);
});

test('a time that was missed is made up once, and not many times', async () => {
  await world.apply(monday(), CALM);
  await until('Sun 12:00');
  await world.command('pipeline/kvstore', 'hold', { reason: 'look' });
  await world.release('kvstore', 'kv:2');
  await until('Mon 15:00');
  // Two more Mondays pass.
  await world.sleep(14 * DAY);
  expect(actionOf(await world.releaseStatus('kvstore', 1), 'deploy')?.blockedBy).toContain('held by user:alice');
  await world.command('pipeline/kvstore', 'unhold');
  await world.ended('kvstore', 1);
  expect(local(await begunAt(1))).toBe('Mon 15:00');
  await world.release('kvstore', 'kv:3');
  await world.sleep(6 * DAY);
  expect(actionOf(await world.releaseStatus('kvstore', 2), 'deploy')?.state).toBe('blocked');
  await until('Mon 10:01');
  expect(local(await begunAt(2))).toBe('Mon 10:00');
  await world.ended('kvstore', 2);
});

test('the newer release makes up what the older one missed', async () => {
  await world.apply(monday(), CALM);
  await until('Sun 12:00');
  await world.command('pipeline/kvstore', 'hold', { reason: 'look' });
  await world.release('kvstore', 'kv:2');
  await until('Tue 15:00');
  for (const n of [3, 4]) await world.release('kvstore', `kv:${n}`);
  await world.sleep(5 * MINUTE);
  await world.apply(monday(), CALM);
  await world.command('pipeline/kvstore', 'unhold');
  await world.ended('kvstore', 3, { withinMs: HOUR });
  expect(await endsOf(world, [1, 2, 3])).toEqual(['cancelled (superseded)', 'cancelled (superseded)', 'succeeded']);
});

test('a release that is ready five minutes late waits for the next Monday', async () => {
  await world.apply(monday(), CALM);
  await until('Mon 10:05');
  await world.release('kvstore', 'kv:2');
  const from = await world.now();
  await until('Mon 10:01');
  const begun = await begunAt(1);
  expect([local(begun), Math.round((begun - from) / DAY)]).toEqual(['Mon 10:00', 7]);
  await world.ended('kvstore', 1);
});

test('gates: releases. Releases start at the time of the calendar, and of those that came since the newest', async () => {
  const actions = { build: slowAction(5), deploy: deployAction('5m', { needs: ['build'] }) };
  await world.apply(flow(actions, { schedule: { ...weekly, gates: 'releases' } }), CALM);
  await until('Sat 12:00');
  await Promise.all([2, 3, 4].map((n) => world.release('kvstore', `kv:${n}`)));
  await until('Mon 09:59');
  expect(world.slow.runs).toEqual([]);
  const { waits } = await world.pipelineStatus('kvstore');
  expect(waits).toMatchObject([{ release: 3, action: null, why: 'waiting for the calendar' }]);
  await world.ended('kvstore', 3);
  expect(world.slow.runs.map(({ release, fromMs }) => [release, local(fromMs)])).toEqual([[3, 'Mon 10:00']]);
  const { releases } = await world.pipelineStatus('kvstore');
  expect(releases.map(({ number, state, cause }) => [number, state, cause])).toEqual([
    [1, 'cancelled', 'superseded'],
    [2, 'cancelled', 'superseded'],
    [3, 'succeeded', null],
  ]);
});

test('gates: releases, with supersede: never. All that came since start, and deploy in order', async () => {
  const more = { schedule: { ...weekly, gates: 'releases' }, releases: { supersede: 'never' } } as const;
  await world.apply(monday(more), CALM);
  await until('Sat 12:00');
  await Promise.all([2, 3, 4].map((n) => world.release('kvstore', `kv:${n}`)));
  await world.sleep(MINUTE);
  const { waits = [] } = await world.pipelineStatus('kvstore');
  expect(waits.map(({ until: opens }) => local(Date.parse(opens ?? '')))).toEqual(Array(3).fill('Mon 10:00'));
  await until('Mon 10:01');
  await world.ended('kvstore', 3);
  expect(await endsOf(world, [1, 2, 3])).toEqual(['succeeded', 'succeeded', 'succeeded']);
});

test('a rollback waits for no calendar', async () => {
  await world.apply(monday(), CALM);
  for (const n of [2, 3]) {
    await world.release('kvstore', `kv:${n}`);
    await untilAction(world, n - 1, 'deploy', ({ state }) => state === 'succeeded', {
      withinMs: 9 * DAY,
      stepMs: HOUR,
    });
    await world.sleep(MINUTE);
  }
  await until('Thu 12:00');
  await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'slow' });
  await world.ended('kvstore', 3, { withinMs: HOUR });
  expect(await endsOf(world, [3])).toEqual(['succeeded']);
});
