import { createHmac } from 'node:crypto';
import type { TrackedTicket } from '../../../../simulator/state';
import { MINUTE_MS } from '../../../../domain/milliseconds';
import { viaApp } from '../../../../sdk/client';
import type { Fetch } from '../../../../sdk/request';
import { expectNoViolations, givenFleet, type TestFleet } from '../../../builders/simulatorFleet';
import { TicketWorld } from '../../../builders/ticketWorld';

let fleet: TestFleet;
let world: TicketWorld;
let calls: string[];
beforeEach(() => {
  fleet = givenFleet();
  calls = [];
  const counted: Fetch = (request, init) => {
    calls.push(new URL(request.url).pathname.split('/').at(-1) ?? '');
    return viaApp(fleet.app)(request, init);
  };
  world = new TicketWorld(counted);
});
afterEach(expectNoViolations);

const tickets = () => fleet.control('GET', '/tickets') as Promise<TrackedTicket[]>;
const faulty = (mode: string, more: object = {}) =>
  fleet.control('POST', '/faults', { kind: 'http', service: 'tickets', mode, ...more }) as Promise<{ id: string }>;
const closedBy = async () => (await tickets()).map((one) => one.closedBy);

test('a ticket is opened once, and asked for no more while nothing changes', async () => {
  world.deployed('kv', 42);
  expect(await world.day()).toMatchObject({ opened: 1, open: [{ pipeline: 'kv', ticket: 'OPS-1' }] });
  expect(await world.day()).toMatchObject({ opened: 0, updated: 0 });
  expect(calls).toEqual(['openTicket']);
});

test.each([['down'], ['error'], ['garbage'], ['lose-reply'], ['duplicate']])(
  'a service whose answers are %s once is asked again in the same run, and there is one ticket',
  async (mode) => {
    world.deployed('kv', 42);
    await faulty(mode, { count: 1 });
    expect(await world.day(1)).toMatchObject({ late: 0, open: [{ ticket: 'OPS-1' }] });
    expect(await tickets()).toHaveLength(1);
  },
);

test('a ticket that may not have been opened is closed once its pipeline is deployed', async () => {
  world.deployed('kv', 42);
  await faulty('lose-reply');
  expect(await world.day(3)).toMatchObject({ late: 1, open: [{ ticket: null }] });
  expect(await closedBy()).toEqual([null]);
  world.deployed('kv', 0);
  await fleet.control('DELETE', '/faults/fault-1');
  expect(await world.day()).toMatchObject({ closed: 1, open: [] });
  expect(await closedBy()).toEqual(['conveyor']);
});

test('a worker that dies in a run loses no ticket, also where the pipeline is deployed before another takes over', async () => {
  world.deployed('kv', 42);
  world.deployed('web', 42);
  const round = await world.due();
  await world.tend(round); // whose result was lost
  world.deployed('kv', 0);
  expect(await world.tend(round)).toMatchObject({ closed: 1, opened: 1, open: [{ pipeline: 'web', ticket: 'OPS-2' }] });
  expect(await tickets()).toHaveLength(2);
});

test('a service that is silent costs a run a few calls, however many tickets are due', async () => {
  for (let n = 0; n < 300; n += 1) world.deployed(`p${n}`, 42);
  world = Object.assign(new TicketWorld(silent), { pipelines: world.pipelines });
  const round = await world.day();
  expect(round).toMatchObject({ late: 300, opened: 0 });
  expect(round.problem).toBe('tracker did not answer openTicket: no answer within 200 ms (http://simulator/…)');
  expect(round.said).toHaveLength(20);
  expect(calls.length).toBeLessThan(20);
});

test('a service that takes a minute for each ticket is asked for an hour, and keeps what it took', async () => {
  for (let n = 0; n < 300; n += 1) world.deployed(`p${n}`, 42);
  const slow: Fetch = (request, init) => {
    world.now += MINUTE_MS;
    return viaApp(fleet.app)(request, init);
  };
  world = Object.assign(new TicketWorld(slow), { pipelines: world.pipelines });
  const first = await world.tend(await world.due());
  expect(first.opened).toBeGreaterThanOrEqual(60);
  expect(first.opened).toBeLessThan(70);
  expect(first).toMatchObject({ late: 300 - first.opened, problem: null });
  expect(first.said[0]).toContain('within an hour');
  expect((await world.tend(first)).opened).toBeGreaterThan(first.opened + 50);
});

const silent: Fetch = (request, init) => {
  calls.push(request.url);
  return new Promise((_, reject) => init?.signal.addEventListener('abort', () => reject(new Error('aborted'))));
};

test('one ticket that the service refuses stops no other, and is asked for again the next day', async () => {
  world.deployed('kv', 42);
  world.deployed('web', 42);
  const picky: Fetch = async (request, init) => {
    const { pipeline } = (await request.clone().json()) as { pipeline: string };
    const error = { code: 'unknown-team', message: 'nobody is group:storage', retryable: false };
    return pipeline === 'kv' ? Response.json({ error }, { status: 400 }) : viaApp(fleet.app)(request, init);
  };
  const usual = world;
  world = Object.assign(new TicketWorld(picky), { pipelines: usual.pipelines });
  const round = await world.day();
  expect(round).toMatchObject({ refused: 1, opened: 1, late: 0, problem: null });
  expect(round.said[0]).toMatch(/^kv: tracker rejected openTicket .*nobody is group:storage/);
  usual.open = world.open;
  usual.now = world.now;
  expect(await usual.day()).toMatchObject({ opened: 1, refused: 0 });
});

test.each<[string, (nth: number) => string, string]>([
  ['gives two pipelines one ticket', () => 'OPS-7', 'OPS-7 is the ticket of freshness/'],
])('a service that %s is not believed, and is asked again', async (_, name, why) => {
  world.deployed('kv', 42);
  world.deployed('web', 42);
  let nth = 0;
  const lying: Fetch = async (request, init) => {
    if (!request.url.endsWith('/openTicket')) return viaApp(fleet.app)(request, init);
    nth += 1;
    return Response.json({ ticket: name(nth) });
  };
  const usual = world;
  world = Object.assign(new TicketWorld(lying), { pipelines: usual.pipelines });
  const round = await world.day(1);
  expect(round).toMatchObject({ opened: 1, late: 1 });
  expect(round.said[0]).toContain(`tracker answered openTicket in violation of its protocol: ticket: ${why}`);
  usual.open = world.open;
  usual.now = world.now;
  expect(await usual.day()).toMatchObject({ opened: 1, late: 0 });
});

test('a service that calls a ticket by another name when it opens it again is not believed', async () => {
  world.deployed('kv', 50);
  await world.day();
  await fleet.control('POST', '/tickets/close', { ticket: 'OPS-1' });
  const lying: Fetch = (request, init) =>
    request.url.endsWith('/openTicket')
      ? Promise.resolve(Response.json({ ticket: 'OPS-9' }))
      : viaApp(fleet.app)(request, init);
  const usual = world;
  world = Object.assign(new TicketWorld(lying), { pipelines: usual.pipelines, open: usual.open, now: usual.now });
  const rounds = [];
  for (let day = 0; day < 15; day += 1) rounds.push(await world.day(1));
  const late = rounds.filter((round) => round.late > 0);
  expect(late.length).toBeGreaterThan(0);
  expect(late[0]?.said[0]).toContain('ticket: OPS-9, and before it was OPS-1');
  expect(world.open).toMatchObject([{ ticket: 'OPS-1' }]);
});

test('a ticket that a person closed rests, and is opened again for the manager', async () => {
  world.deployed('kv', 50);
  await world.day();
  await fleet.control('POST', '/tickets/close', { ticket: 'OPS-1' });
  world.deployed('kv', 50 + 1, { state: 'held' });
  expect(await world.day()).toMatchObject({ updated: 1, open: [{ closedByHand: true }] });
  const waits = await world.day();
  expect(waits).toMatchObject({ updated: 0, opened: 0 });
  expect(await closedBy()).toEqual(['a person']);
  for (let day = 0; day < 15; day += 1) await world.day();
  expect(await tickets()).toMatchObject([{ closedBy: null, escalated: true, assignees: ['user:maria'] }]);
  expect(await world.day()).toMatchObject({ updated: 0, opened: 0 });
});

test('a pipeline that was retired and comes back gets its ticket back', async () => {
  world.deployed('kv', 43);
  const { pipelines } = world;
  await world.day();
  const retired = { ...pipelines.get('kv')!, ended: true as const };
  const back = pipelines.get('kv')!;
  pipelines.set('kv', retired);
  expect(await world.day()).toMatchObject({ closed: 1 });
  pipelines.set('kv', back);
  expect(await world.day()).toMatchObject({ opened: 1, open: [{ ticket: 'OPS-1' }] });
  expect(await closedBy()).toEqual([null]);
});

test('without a service nothing is due; once the service is removed its tickets stay, and the run states the reason', async () => {
  world.deployed('kv', 42);
  const { config } = world;
  world.config = { freshness: {} };
  expect(await world.day()).toMatchObject({ open: [], problem: expect.stringContaining('freshness.tickets') });
  world.config = config;
  await world.day();
  world.config = { freshness: {} };
  expect(await world.day()).toMatchObject({ open: [{ ticket: 'OPS-1' }], late: 0 });
});

test('thirty thousand pipelines are one listing twice a run, a thousand tickets at most, and no call when nothing changed', async () => {
  for (let n = 0; n < 30_000; n += 1) world.deployed(`p${n}`, n % 10 === 0 ? 45 : 2);
  expect(await world.day()).toMatchObject({ opened: 1_000, unticketed: 2_000 });
  expect(calls).toHaveLength(1_000);
  expect(await world.day()).toMatchObject({ opened: 0, unticketed: 2_000 });
  for (let n = 0; n < 30_000; n += 20) world.deployed(`p${n}`, 0);
  const { closed, opened } = await world.day();
  const next = await world.day();
  expect(closed).toBeGreaterThan(400);
  expect([opened, next.opened]).toEqual([0, closed]);
  expect(next.open).toHaveLength(1_000);
  expect(calls).toHaveLength(1_000 + 2 * closed);
});

describe('a webhook', () => {
  const url = 'https://hooks.example.org/stale';
  const hook = { name: 'hook', kind: 'tickets', type: 'webhook', url };
  let sent: { headers: Headers; body: string }[];
  let status: number;
  beforeEach(() => {
    [sent, status] = [[], 204];
    const receiver: Fetch = async (request) => {
      sent.push({ headers: request.headers, body: await request.text() });
      return new Response(null, { status });
    };
    const receivers = [{ url, keyEnv: 'HOOK_KEY' }];
    world = new TicketWorld(
      receiver,
      { extensions: [hook], freshness: { tickets: 'hook' }, notifications: { receivers } },
      { HOOK_KEY: 'whsec_c2VjcmV0LW9mLXRoZS1ob29rLXRoYXQtaXMtbG9uZw==' },
    );
  });

  test('gets a signed event for each ticket that is to be opened, changed or closed', async () => {
    world.deployed('kv', 42);
    expect(await world.day()).toMatchObject({ opened: 1 });
    world.deployed('kv', 43, { state: 'frozen' });
    await world.day();
    world.deployed('kv', 0);
    await world.day();
    const events = sent.map(({ body }) => JSON.parse(body) as { type: string; id: string; data: object });
    expect(events.map(({ type }) => type)).toEqual([
      'dev.conveyor.ticket.open',
      'dev.conveyor.ticket.update',
      'dev.conveyor.ticket.close',
    ]);
    expect(events[0]).toMatchObject({ specversion: '1.0', subject: 'kv', data: { pipeline: 'kv', escalated: false } });
    const [{ headers, body }] = sent as [(typeof sent)[0]];
    const signed = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`;
    const key = Buffer.from('c2VjcmV0LW9mLXRoZS1ob29rLXRoYXQtaXMtbG9uZw==', 'base64');
    expect(headers.get('webhook-signature')).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  });

  test('whose address holds a secret appears in no message by its path', async () => {
    const gone: Fetch = () => Promise.reject(new Error(`connect ECONNREFUSED ${url}`));
    const { pipelines, config } = world;
    world = Object.assign(new TicketWorld(gone, { ...config, notifications: {} }), { pipelines });
    world.deployed('kv', 42);
    const { problem, said } = await world.day();
    expect(problem).toMatch(/^hook did not answer openTicket: connect ECONNREFUSED/);
    expect(`${problem} ${said.join(' ')}`).not.toContain('/stale');
  });

  test('gets the same event again under its id where it did not take it, and none again that it refused that day', async () => {
    world.deployed('kv', 42);
    status = 503;
    expect(await world.day(2)).toMatchObject({ late: 1 });
    expect(new Set(sent.map(({ headers }) => headers.get('webhook-id'))).size).toBe(1);
    status = 410;
    expect(await world.day()).toMatchObject({ late: 0, refused: 1, said: [expect.stringContaining('410')] });
  });
});
