import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client, type ScheduleOptions } from '@temporalio/client';
import { FRESHNESS_ID } from '../../../domain/ids';
import { DAY_MS } from '../../../domain/milliseconds';
import type { Settings } from '../../../domain/settings';
import type { FreshnessPolicy } from '../domain/policy';
import type { FreshnessOrder } from '../domain/round';

interface TicketSettings {
  readonly freshness: Pick<FreshnessPolicy, 'tickets'>;
  readonly settings: Pick<Settings, 'heartbeatTimeoutMs'>;
}

/**
 * The Schedule `freshness`, created or updated: each day at nine, UTC. It remains when the service of tickets is
 * removed from the settings, together with the record of open tickets; without such a service there is no new one.
 */
export async function ensureDailyTickets(client: Client, given: TicketSettings, taskQueue: string): Promise<void> {
  const { freshness, settings } = given;
  if (freshness.tickets === null) return;
  const { scheduleId, ...wanted } = dailySchedule(taskQueue, { heartbeatTimeoutMs: settings.heartbeatTimeoutMs });
  try {
    await client.schedule.create({ scheduleId, ...wanted });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule.getHandle(scheduleId).update(({ state }) => ({ ...wanted, state }));
  }
}

/** A run missed while Temporal was down is made up for on the same day. */
const SAME_DAY_MS = 12 * 3_600_000;

const dailySchedule = (taskQueue: string, order: FreshnessOrder) =>
  ({
    scheduleId: FRESHNESS_ID,
    spec: { intervals: [{ every: DAY_MS, offset: 9 * 3_600_000 }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: SAME_DAY_MS },
    action: {
      type: 'startWorkflow',
      workflowType: 'freshness',
      workflowId: FRESHNESS_ID,
      taskQueue,
      args: [order] satisfies [FreshnessOrder],
      staticSummary: 'tickets for stale pipelines',
      // A workflow without a worker would block all later ones.
      workflowExecutionTimeout: 20 * 3_600_000,
    },
  }) satisfies ScheduleOptions;
