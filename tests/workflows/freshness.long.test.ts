import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow';
import type { TicketRound } from '../../features/freshness/domain/round';
import type { PipelineSource } from '../../domain/spec/pipeline';
import type { TrackedTicket } from '../../simulator/state';
import { CALM, deployAction, flow } from './flows';
import { HOUR, VirtualWorld } from './world';

const DAY = 24 * HOUR;

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

/** Replaces the Temporal Schedule, which the virtual server lacks: a run a day, each with the result of the last. */
const everyDay = () =>
  world.client.workflow.start('freshness', {
    ...{ workflowId: 'freshness', taskQueue: world.taskQueue, cronSchedule: '0 9 * * *' },
    args: [{ heartbeatTimeoutMs: HOUR }],
  });

const owned = (pipeline: string, more: Partial<PipelineSource> = {}): Promise<unknown> =>
  world.apply(
    flow({ deploy: deployAction('5m') }, { pipeline, owners: ['user:alice', 'group:storage'], ...more }),
    CALM,
  );

let versions = 1;
async function deploys(pipeline: string): Promise<void> {
  versions += 1;
  const { number } = await world.release(pipeline, `kv:${versions}`);
  const { state } = await world.ended(pipeline, number);
  expect(state).toBe('succeeded');
}

/** Deploys take minutes, so each story of a week ends later in the day: it must never pass the time of the daily run. */
const afterNoon = async (): Promise<void> => world.sleep(DAY - (((await world.now()) - 12 * HOUR) % DAY));

const tickets = () => world.control<TrackedTicket[]>('GET', '/control/tickets');
const ticketsOf = async (pipeline: string) => (await tickets()).filter((one) => one.pipeline === pipeline);
const about = (pipeline: string, verb: 'freeze' | 'retire', reason: string) =>
  world.command(`pipeline/${pipeline}`, verb, { reason });

/** Whole days from the deploy that a ticket is about until the ticket opened. */
const ageAtOpening = ({ key, openedAt }: TrackedTicket): number =>
  Math.floor((openedAt - Date.parse(key.split('/')[2] ?? '')) / DAY);

test('in twenty weeks each pipeline gets a ticket once it is too old, its managers get it in time, and a deploy closes it', async () => {
  await afterNoon();
  await owned('weekly');
  await owned('forgotten');
  await owned('busy', { labels: { traffic: 'high' } });
  await owned('stopped');
  await owned('given-up');
  for (const name of ['weekly', 'forgotten', 'busy', 'stopped', 'given-up']) await deploys(name);
  await owned('never');
  await about('stopped', 'freeze', 'the audit is not over');
  await everyDay();
  const opened: number[] = [];
  for (let week = 1; week <= 20; week += 1) {
    await world.sleep(7 * DAY);
    await deploys('weekly');
    if (week === 8) await about('given-up', 'retire', 'search does this now');
    if (week === 12) await deploys('forgotten');
    opened.push((await tickets()).filter(({ closedBy }) => closedBy === null).length);
  }
  // Without an owner by day 30; the busy one at 30; the others at 42; one is retired at 56, one deployed at 84 and stale again at 126.
  expect(opened).toEqual([0, 0, 0, 0, 1, 1, 4, 4, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 3, 3]);

  expect(await ticketsOf('weekly')).toEqual([]);
  expect(await ticketsOf('never')).toEqual([]);
  const [first, second] = await ticketsOf('forgotten');
  expect(first).toMatchObject({ closedBy: 'conveyor', escalated: true, assignees: ['user:maria'] });
  expect(first?.reason).toMatch(/^it was deployed at /);
  expect(second).toMatchObject({ closedBy: null, escalated: false, assignees: ['user:alice', 'group:storage'] });
  const [busy] = await ticketsOf('busy');
  expect(busy).toMatchObject({ closedBy: null, escalated: true });
  const [stopped] = await ticketsOf('stopped');
  expect(stopped?.body).toMatch(/It is frozen by user:alice since \S+: the audit is not over\. That stops no clock/);
  const [givenUp] = await ticketsOf('given-up');
  expect(givenUp).toMatchObject({ closedBy: 'conveyor', reason: expect.stringContaining('search does this now') });
  const all = await tickets();
  expect(all).toHaveLength(5);
  expect(all.map(ageAtOpening)).toEqual(all.map(({ pipeline }) => (pipeline === 'busy' ? 30 : 42)));
});

test('while the service of tickets is gone for days nothing is lost and nothing is opened twice, and the runs say so', async () => {
  await owned('forgotten');
  await deploys('forgotten');
  const fault = { kind: 'http', service: 'tickets', mode: 'down' };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
  await everyDay();
  await world.sleep(45 * DAY);
  expect(await tickets()).toEqual([]);
  const run = await lastRound();
  expect(run).toMatchObject({ late: 1, opened: 0, open: [{ pipeline: 'forgotten', ticket: null }] });
  expect(run.problem).toMatch(/^tracker did not answer openTicket/);
  await world.control('DELETE', `/control/faults/${id}`);
  await world.control('POST', '/control/faults', { ...fault, mode: 'lose-reply', count: 2 });
  await world.sleep(DAY);
  expect(await tickets()).toMatchObject([{ ticket: 'OPS-1', closedBy: null }]);
  expect(await lastRound()).toMatchObject({ late: 0, open: [{ ticket: 'OPS-1' }] });
});

/** The state that the last completed run left for the next. */
async function lastRound(): Promise<TicketRound> {
  const { workflowService } = world.client;
  const execution = { workflowId: 'freshness' };
  const { history } = await workflowService.getWorkflowExecutionHistory({ namespace: 'default', execution });
  const [started] = history?.events ?? [];
  const { payloads } = started?.workflowExecutionStartedEventAttributes?.lastCompletionResult ?? {};
  return decodeFromPayloadsAtIndex<TicketRound>(world.client.options.loadedDataConverter, 0, payloads);
}
