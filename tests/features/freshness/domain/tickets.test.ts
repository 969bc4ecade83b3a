import { DEFAULT_FRESHNESS, type FreshnessPolicy } from '../../../../features/freshness/domain/policy';
import type { OpenTicket, TicketText } from '../../../../features/freshness/domain/ticket';
import {
  afterStep,
  reopens,
  ticketStep,
  withDue,
  type TicketStep,
} from '../../../../features/freshness/domain/tickets';
import { jsonBytes } from '../../../../domain/size';
import { STATE_LIMITS, TICKET_LIMITS } from '../../../../domain/limits';
import { DAY_MS } from '../../../../domain/milliseconds';
import type { PipelineSummary } from '../../../../domain/views';

const NOW = Date.parse('2026-11-24T09:00:00.000Z');
const before = (days: number): string => new Date(NOW - days * DAY_MS).toISOString();
const POLICY: FreshnessPolicy = { ...DEFAULT_FRESHNESS, tickets: 'tracker', managers: { storage: 'user:maria' } };

const pipeline = (days: number | null, more: Partial<PipelineSummary> = {}): PipelineSummary => ({
  ...{ id: 'kv', kind: 'pipeline', description: '', owners: ['group:storage'], labels: {}, state: 'active' },
  ...{ active: [], lastRelease: 1, ...(days === null ? {} : { deployedAt: before(days) }) },
  ...more,
});

const due = (...pipelines: PipelineSummary[]) => withDue([], pipelines, POLICY, NOW);
const [NEW] = due(pipeline(45)).open as [OpenTicket];
const step = (ticket: OpenTicket, found: PipelineSummary | undefined, days = 0, policy = POLICY): TicketStep =>
  ticketStep(ticket, found, policy, NOW + days * DAY_MS);

/** As the service took it. */
function opened(found = pipeline(45)): OpenTicket {
  const first = step(NEW, found);
  return afterStep(first, { ticket: 'OPS-1' }) ?? NEW;
}
const textOf = (it: TicketStep): TicketText | undefined => ('text' in it ? it.text : undefined);

test('a pipeline that is too old is on record before any service is asked, once', () => {
  expect(due(pipeline(45))).toEqual({ open: [NEW], unticketed: 0 });
  expect(NEW).toMatchObject({ pipeline: 'kv', ticket: null, deployedAt: before(45) });
  expect(withDue([NEW], [pipeline(45)], POLICY, NOW).open).toEqual([NEW]);
});

test.each([
  ['fresh', pipeline(41)],
  ['never deployed', pipeline(null)],
  ['ended', pipeline(100, { ended: true })],
])('one that is %s gets no ticket', (_, found) => expect(due(found).open).toEqual([]));

test('a ticket states since when, the remedy, and who stopped its pipeline and why, and goes to the owners', () => {
  const stopped = { actor: 'user:bob', at: '2026-11-01T08:00:00.000Z', reason: 'the audit' };
  const text = textOf(step(NEW, pipeline(45, { state: 'frozen', stopped })));
  expect(text).toMatchObject({ title: 'kv was last deployed on 2026-10-10', assignees: ['group:storage'] });
  expect(text?.body).toContain(`at least. The pipeline kv brought something new into production last at ${before(45)}`);
  expect(text?.body).toContain('frozen by user:bob since 2026-11-01T08:00:00.000Z: the audit.');
  expect(text?.body).toContain('conveyor unfreeze kv');
  expect(text?.escalated).toBe(false);
});

test('a ticket does not change by itself from day to day', () => {
  for (let day = 1; day < 18; day += 1) expect(step(opened(), pipeline(45), day).kind).toBe('keep');
  expect(step(opened(), pipeline(45), 18)).toMatchObject({ kind: 'update', escalates: true });
});

test('it escalates to the managers of the groups that own it; where there are none it stays with the owners', () => {
  const text = (owners: string[]) => textOf(step(NEW, pipeline(63, { owners }), 0));
  const old = { ...NEW, deployedAt: before(63) };
  const escalated = (owners: string[]) => textOf(step(old, pipeline(63, { owners })));
  expect(text(['group:storage'])).toBeUndefined();
  expect(escalated(['group:storage', 'user:bob'])).toMatchObject({ assignees: ['user:maria'], escalated: true });
  expect(escalated(['user:bob'])).toMatchObject({ assignees: ['user:bob'], escalated: true });
  expect(escalated(['group:constructor'])).toMatchObject({ assignees: ['group:constructor'] });
});

test.each<[string, PipelineSummary, string]>([
  ['was deployed', pipeline(1), `it was deployed at ${before(1)}`],
  ['was retired', pipeline(45, { ended: true, stopped: { actor: 'user:bob', at: '', reason: 'old' } }), 'its pipeline has ended (user:bob: old)'], // prettier-ignore
  ['ended otherwise', pipeline(45, { ended: true }), 'its pipeline has ended'],
  ['lost its records', pipeline(null), 'nobody knows of a deploy of it any more'],
])('it is closed once its pipeline %s', (_, found, reason) => {
  expect(step(opened(), found)).toMatchObject({ kind: 'close', reason });
  // Also one that was perhaps never opened: its service has to take that.
  expect(step(NEW, found)).toMatchObject({ kind: 'close', reason });
});

test('it is closed where the limits became more patient', () => {
  const patient = { ...POLICY, ticketAfterMs: 50 * DAY_MS };
  expect(step(opened(), pipeline(45), 0, patient)).toMatchObject({ kind: 'close' });
});

test('one whose pipeline lists lack for less than a week stays, and what comes back is no news', () => {
  let ticket = opened();
  for (let day = 0; day < 7; day += 1) {
    const kept = step(ticket, undefined, day);
    expect(kept.kind).toBe('keep');
    ticket = kept.ticket;
  }
  expect(step(ticket, pipeline(45))).toEqual({ kind: 'keep', ticket: opened() });
  expect(step(ticket, undefined, 7)).toMatchObject({ kind: 'close', reason: 'its pipeline is gone' });
});

test('a freeze, its end and another owner change the text; a ticket that a person closed rests meanwhile', () => {
  const frozen = pipeline(45, { state: 'frozen' });
  expect(step(opened(), frozen)).toMatchObject({ kind: 'update', escalates: false });
  expect(step(opened(), pipeline(45, { owners: ['user:eve'] }))).toMatchObject({ kind: 'update' });
  const updated = step(opened(), frozen);
  const closed = afterStep(updated, { closedByHand: true });
  expect(closed).toMatchObject({ ticket: 'OPS-1', closedByHand: true });
  expect(step(closed ?? NEW, pipeline(45)).kind).toBe('keep');
  expect(reopens(updated, 'closed')).toBe(false);
});

test('closing the ticket does not hide a pipeline from its manager: it is opened again as it escalates', () => {
  const closed: OpenTicket = { ...opened(), closedByHand: true };
  const escalation = step(closed, pipeline(45), 18);
  expect(escalation).toMatchObject({ kind: 'update', escalates: true });
  expect(reopens(escalation, 'closed')).toBe(true);
  expect(reopens(escalation, 'open')).toBe(false);
  expect(afterStep(escalation, { ticket: 'OPS-1' })).toMatchObject({ state: 'overdue', ticket: 'OPS-1' });
  expect(afterStep(escalation, { ticket: 'OPS-1' })).not.toHaveProperty('closedByHand');
});

test('beyond the limit the worst have a ticket, the others wait and are counted, and a run stays within the size of a payload', () => {
  const name = (n: number) => `p${n}`.padEnd(63, 'x');
  const many = Array.from({ length: 30_000 }, (_, n) => pipeline(50 + n / 1_000, { id: name(n) }));
  const { open, unticketed } = due(...many);
  expect([open.length, unticketed]).toEqual([TICKET_LIMITS.open.max, 30_000 - TICKET_LIMITS.open.max]);
  expect(open[0]?.pipeline).toBe(name(29_999));
  const full = open.map((one) => ({
    ...one,
    ...{ ticket: 'T'.repeat(TICKET_LIMITS.ticket.max), state: 'overdue', digest: 4_294_967_295 },
    ...{ closedByHand: true, missingSinceMs: NOW },
  }));
  expect(jsonBytes(full)).toBeLessThan(STATE_LIMITS.state.max);
  expect(withDue(open.slice(1), many, POLICY, NOW).unticketed).toBe(unticketed);
});

test.each([
  [TICKET_LIMITS.open.max, TICKET_LIMITS.open.max, 0],
  [TICKET_LIMITS.open.max + 1, TICKET_LIMITS.open.max, 1],
])('out of %d pipelines that are too old %d have a ticket and %d wait, also the next day', (old, open, waiting) => {
  const many = Array.from({ length: old }, (_, n) => pipeline(50, { id: `p${n}` }));
  const first = due(...many);
  expect([first.open.length, first.unticketed]).toEqual([open, waiting]);
  const next = withDue(first.open, many, POLICY, NOW);
  expect([next.open.length, next.unticketed]).toEqual([open, waiting]);
});
