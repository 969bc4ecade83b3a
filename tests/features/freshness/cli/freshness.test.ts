import { DEFAULT_FRESHNESS } from '../../../../features/freshness/domain/policy';
import { roundFrom, type TicketRound } from '../../../../features/freshness/domain/round';
import { freshnessReport } from '../../../../features/freshness/domain/report';
import type { OpenTicket } from '../../../../features/freshness/domain/ticket';
import { DAY_MS } from '../../../../domain/milliseconds';
import { NOW, pipeline } from '../../../builders/cliSamples';
import { run } from '../../../builders/cliWorld';

const deployedBefore = (id: string, days: number) => ({
  ...pipeline({ id }),
  state: 'active' as const,
  deployedAt: new Date(NOW - days * DAY_MS).toISOString(),
});
const REPORT = freshnessReport(
  [deployedBefore('young', 2), deployedBefore('old', 45), { ...deployedBefore('ancient', 80), state: 'frozen' }],
  DEFAULT_FRESHNESS,
  NOW,
);
const client = { freshness: () => Promise.resolve(REPORT) };

test('freshness shows the worst first: since when, until when, and what stops it', async () => {
  const { out } = await run(['freshness'], { client });
  const lines = out.split('\n').map((line) => line.replace(/ {2,}/g, '  '));
  expect(lines[0]).toMatch(/^PIPELINE  STATE  DEPLOYED  NEXT  STOPPED  OWNERS$/);
  expect(lines[1]).toMatch(/^ancient  ✖ overdue  80d ago  –  frozen  /);
  expect(lines[2]).toMatch(/^old  ⚠ stale  45d ago  overdue in 18d  –  /);
  expect(lines[3]).toMatch(/^young  ✔ fresh  2d ago  stale in 40d  –  /);
  expect(out).toContain('33.3% of the pipelines that ever deployed did so in the last week.');
});

test('it is JSON for programs, with the share of a week, and says what a limit leaves out', async () => {
  expect(JSON.parse((await run(['freshness', '-o', 'json'], { client })).out)).toEqual(REPORT);
  const { out } = await run(['freshness', '--limit', '1'], { client });
  expect(out).not.toContain('young');
  expect(out).toContain('2 pipelines more: --limit 3');
});

const ROUND: TicketRound = {
  ...roundFrom([], 0, NOW - DAY_MS),
  open: [
    { ...ticketOf('old', 45), state: 'stale' },
    { ...ticketOf('ancient', 80), state: 'overdue' },
  ],
};
function ticketOf(pipeline: string, days: number): OpenTicket {
  const { deployedAt } = deployedBefore(pipeline, days);
  return { pipeline, deployedAt, ticket: `OPS-${days}`, state: 'stale', digest: 1 };
}
const withTickets = (round: Partial<TicketRound> = {}) => {
  const pipelines = [deployedBefore('young', 2), deployedBefore('old', 45), deployedBefore('ancient', 80)];
  return {
    freshness: () => Promise.resolve(freshnessReport(pipelines, DEFAULT_FRESHNESS, NOW, { ...ROUND, ...round })),
  };
};

test('with tickets it shows the ticket of each pipeline, and whether it escalated or a person closed it', async () => {
  const shown = async (round: Partial<TicketRound> = {}) =>
    (await run(['freshness'], { client: withTickets(round) })).out.replace(/ {2,}/g, '  ').split('\n');
  const [heading, ancient, old, young] = await shown();
  expect(heading).toMatch(/STOPPED  TICKET  OWNERS$/);
  expect(ancient).toMatch(/–  OPS-80 escalated  /);
  expect(old).toMatch(/–  OPS-45  /);
  expect(young).toMatch(/–  –  [a-z]/);
  const [, , resting] = await shown({ open: [{ ...ticketOf('old', 45), closedByHand: true }] });
  expect(resting).toMatch(/OPS-45 closed by hand/);
  const [, , waiting] = await shown({ open: [{ ...ticketOf('old', 45), ticket: null }] });
  expect(waiting).toMatch(/–  waits  /);
  // One of an earlier deploy is about to be closed.
  expect((await shown({ open: [ticketOf('old', 50)] }))[2]).not.toContain('OPS');
});

test('it says what is wrong with the service of tickets', async () => {
  const shown = async (round: Partial<TicketRound>) => (await run(['freshness'], { client: withTickets(round) })).out;
  expect(await shown({ problem: 'tracker did not answer', late: 2 })).toContain(
    'Tickets were not updated 1d ago: tracker did not answer',
  );
  expect(await shown({ refused: 2, said: ['old: nobody is group:old'] })).toContain(
    '2 tickets could not be updated 1d ago, such as old: nobody is group:old',
  );
  expect(await shown({ unticketed: 12 })).toContain('12 pipelines wait for a ticket');
});

test('without a pipeline it says how to get one', async () => {
  const empty = { freshness: () => Promise.resolve({ ...REPORT, weekly: null, pipelines: [] }) };
  expect((await run(['freshness'], { client: empty })).out).toContain('conveyor init');
});
