import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fetch } from '../../sdk/request';
import { auditEntry, type AuditRecord } from '../../domain/audit/record';
import { toSigningKey } from '../../settings/secrets';
import { ServerAudit } from '../../server/audit/audit';
import { AuditEvents } from '../../server/audit/events';

const URL = 'https://siem.example.org/events';
const SECRET = 'a-secret-of-the-receiver-of-events';
const DAY_MS = 86_400_000;

interface Event {
  readonly id: string;
  readonly type: string;
  readonly subject?: string;
  readonly data: AuditRecord;
}

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'conveyor-audit-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A server with an audit, and a receiver that takes what `answer` lets it take. */
function world() {
  const file = join(folder, 'audit.jsonl');
  const state = { nowMs: Date.parse('2026-11-23T20:00:00Z'), answer: (_id: string): number | Error => 202 };
  const said: string[] = [];
  const log = (line: string): void => void said.push(line);
  const now = (): number => state.nowMs;
  const audit = new ServerAudit({ file, server: 'front-1', keepMs: 30 * DAY_MS, now, log });
  const asked: { readonly event: Event; readonly headers: Record<string, string>; readonly body: string }[] = [];
  const taken: Event[] = [];
  const fetch: Fetch = async (request) => {
    const body = await request.text();
    const event = JSON.parse(body) as Event;
    asked.push({ event, headers: Object.fromEntries(request.headers), body });
    const answer = state.answer(event.id);
    if (answer instanceof Error) throw answer;
    if (answer < 300) taken.push(event);
    return new Response(null, { status: answer });
  };
  const sender = () => new AuditEvents({ file, url: URL, secrets: [SECRET], fetch, now, log });
  const hold = (n: number) =>
    audit.record(
      auditEntry({ actor: 'user:a', door: 'api', operation: 'hold', target: `kvstore/${n}`, outcome: 'accepted' }),
    );
  return { state, said, audit, asked, taken, sender, hold };
}

const subjects = (events: readonly Event[]) => events.map(({ subject }) => subject);

test.each([
  ['empty', ''],
  ['cut off', '{"changes":1'],
  ['null', 'null'],
  ['of another kind', '{"changes":"many"}'],
])(
  'a note of what was sent that is %s counts as none: everything is sent again, and then what comes',
  async (_, note) => {
    const { said, audit, taken, sender, hold } = world();
    await hold(1);
    await sender().run();
    const file = join(folder, 'audit.sent.json');
    writeFileSync(file, note);
    const again = sender();
    await again.run();
    await hold(2);
    await again.run();
    expect(subjects(taken)).toEqual(['kvstore/1', 'kvstore/1', 'kvstore/2']);
    expect(said).toEqual([expect.stringMatching(/^audit: .*audit\.sent\.json.* all records are sent again$/)]);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ changes: 2, refusals: 0 });
    await audit.close();
  },
);

test('a note that the disk does not give holds events back, and the lag is seen', async () => {
  const { said, state, audit, sender, hold } = world();
  await hold(1);
  mkdirSync(join(folder, 'audit.sent.json'));
  const sending = sender();
  await sending.run();
  expect(said).toEqual([expect.stringContaining('events wait')]);
  expect(sending.state()).toEqual({ sinceMs: state.nowMs, failures: 1 });
  await audit.close();
});

test('each record goes to the receiver as a signed CloudEvent, once, and refusals as well', async () => {
  const { audit, asked, taken, sender, hold } = world();
  const sending = sender();
  await hold(1);
  await audit.recordAnonymous(
    auditEntry({ actor: null, door: 'api', operation: 'come-in', target: '', outcome: 'refused' }),
    'x',
  );
  await sending.run();
  await sending.run();
  expect(taken).toMatchObject([
    {
      ...{ specversion: '1.0', id: 'front-1/changes/1', source: '/conveyor/audit/front-1', subject: 'kvstore/1' },
      ...{ type: 'dev.conveyor.audit.accepted', time: '2026-11-23T20:00:00.000Z', data: { seq: 1, prev: '' } },
    },
    { id: 'front-1/refusals/1', type: 'dev.conveyor.audit.refused' },
  ]);
  const { headers, body } = asked[0] as (typeof asked)[number];
  const mac = createHmac('sha256', toSigningKey(SECRET)).update(
    `front-1/changes/1.${headers['webhook-timestamp']}.${body}`,
  );
  expect(headers).toMatchObject({
    ...{ 'content-type': 'application/cloudevents+json; charset=utf-8', 'webhook-id': 'front-1/changes/1' },
    'webhook-signature': `v1,${mac.digest('base64')}`,
  });
  await audit.close();
});

test.each([500, 400, new TypeError('fetch failed')])(
  'records that the receiver refuses (%s) wait in the files, in order, and are sent until accepted',
  async (answer) => {
    const { state, said, audit, asked, taken, sender, hold } = world();
    const sending = sender();
    for (const n of [1, 2, 3]) await hold(n);
    state.answer = (id) => (id.endsWith('/2') ? answer : 202);
    const made = state.nowMs;
    await sending.run();
    await sending.run();
    expect(sending.state()).toEqual({ sinceMs: made, failures: 1 });
    expect(subjects(taken)).toEqual(['kvstore/1']);
    // Not asked again at once.
    expect(asked).toHaveLength(2);
    for (let minute = 0; minute < 30; minute += 1) {
      state.nowMs += 60_000;
      await sending.run();
    }
    expect(asked.length).toBeLessThan(20);
    expect(said.filter((line) => line.includes('events wait'))).toHaveLength(1);
    expect(said.join()).not.toContain('siem.example.org');
    state.answer = () => 202;
    state.nowMs += 300_000;
    await sending.run();
    expect(subjects(taken)).toEqual(['kvstore/1', 'kvstore/2', 'kvstore/3']);
    expect(sending.state().sinceMs).toBeNull();
    await audit.close();
  },
);

test('after a restart it continues where it was, also over files that were begun since', async () => {
  const { state, audit, taken, sender, hold } = world();
  await hold(1);
  await sender().run();
  for (const n of [2, 3, 4]) {
    state.nowMs += DAY_MS;
    await hold(n);
  }
  const sending = sender();
  await sending.run();
  expect(subjects(taken)).toEqual(['kvstore/1', 'kvstore/2', 'kvstore/3', 'kvstore/4']);
  await hold(5);
  await sending.run();
  expect(subjects(taken).at(-1)).toBe('kvstore/5');
  expect(taken).toHaveLength(5);
  expect(existsSync(join(folder, 'audit.sent.json'))).toBe(true);
  expect(JSON.parse(readFileSync(join(folder, 'audit.sent.json'), 'utf8'))).toEqual({ changes: 5, refusals: 0 });
  await audit.close();
});
