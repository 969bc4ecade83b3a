import { ScheduleOverlapPolicy } from '@temporalio/client';
import { FRESHNESS_ID } from '../../domain/ids';
import { given, type Service } from '../system/service';
import type { Stack } from '../system/stack';
import { eventually } from '../system/waiting';
import type { Save } from './recordModel';

/** A stack for which a pipeline is stale a second after its deploy. */
export const HASTY = { config: { freshness: { tickets: 'tracker', ticketAfter: '1s' } } };

/** A first run opens a ticket, one after the next deploy closes it, and one waits for the service of tickets. */
export async function recordFreshness(stack: Stack, save: Save): Promise<void> {
  const shop = await given(stack, { name: 'shop-stale', deploy: { phases: [], completion: { bake: '0s' } } });
  await shop.ships(2);
  await shop.ended(1);
  await stale(stack, shop);
  await save(stack, 'freshness-first', await runToEnd(stack));
  await shop.ships(3);
  await shop.ended(2);
  await save(stack, 'freshness-later', await runToEnd(stack));
  await stale(stack, shop);
  await stack.control('POST', '/control/faults', { kind: 'http', service: 'tickets', mode: 'down' });
  const waits = stack.temporal.workflow.getHandle(await beginRun(stack));
  await eventually('it waits for the service', async () => {
    const { events } = await waits.fetchHistory();
    return events?.some(({ timerStartedEventAttributes }) => timerStartedEventAttributes != null);
  });
  await save(stack, 'freshness-waiting', waits.workflowId);
}

const stale = ({ client }: Stack, { name }: Service): Promise<unknown> =>
  eventually('it is stale', async () =>
    (await client.freshness()).pipelines.some(({ id, state }) => id === name && state === 'stale'),
  );

/** As the day does; the id of the run, once it has ended. */
export async function runToEnd(stack: Stack): Promise<string> {
  const workflowId = await beginRun(stack);
  await stack.temporal.workflow.getHandle(workflowId).result();
  return workflowId;
}

async function beginRun({ temporal }: Stack): Promise<string> {
  const schedule = temporal.schedule.getHandle(FRESHNESS_ID);
  const { numActionsTaken } = (await schedule.describe()).info;
  await schedule.trigger(ScheduleOverlapPolicy.SKIP);
  return eventually('the run has begun', async () => {
    const { info } = await schedule.describe();
    return info.numActionsTaken > numActionsTaken && info.recentActions.at(-1)?.action.workflow.workflowId;
  });
}
