import { proxyActivities, setWorkflowOptions, sleep, workflowInfo } from '@temporalio/workflow';
import { ASK_REST_AFTER_MS, roundDetails, type FreshnessOrder, type TicketRound } from '../domain/round';
import { showDetails } from '../../../workflows/details';
import { FOREVER } from '../../../workflows/proxies';
import { buildVersioningOptions } from '../../../workflows/versioning';
import type { TicketActivities } from '../activities/tickets';

/** They read all pipelines, and ask a service about up to a thousand tickets. */
const ticketKeepers = ({ heartbeatTimeoutMs }: FreshnessOrder) =>
  proxyActivities<TicketActivities>({
    startToCloseTimeout: '2h',
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: FOREVER,
  });

/**
 * Looks once at all pipelines, and keeps a ticket for each that has not been deployed for long (Push4Push, Conveyor §2.1). The Schedule passes in
 * the open tickets, as the result of the last run that completed. A run ends before the next is due, even if the service of tickets is down.
 * Tickets that it did not answer for stay on record.
 */
export async function freshness(order: FreshnessOrder): Promise<TicketRound> {
  const last = (workflowInfo().lastResult as TicketRound | null | undefined) ?? null;
  const { heartbeatTimeoutMs } = order;
  const { dueTickets, tendTickets } = ticketKeepers(order);
  let round: TicketRound | null = null;
  showDetails(() => roundDetails(round));
  const due = await dueTickets({ open: last?.open ?? [], heartbeatTimeoutMs });
  round = await tendTickets({ round: due, heartbeatTimeoutMs });
  for (const ms of ASK_REST_AFTER_MS) {
    if (round.late === 0) break;
    await sleep(ms, { summary: `until the service of tickets is asked again for ${round.late}` });
    round = await tendTickets({ round, heartbeatTimeoutMs });
  }
  return round;
}
setWorkflowOptions(buildVersioningOptions('freshness'), freshness);
