import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { workflowIds } from '../domain/ids';

/** How long reverts take to begin. The deploy belongs to the first release of a service. */

/** When a worker took up the revert, and when the last look at health before it had ended, by the server's clock. */
export async function revertSent(temporal: Client, name: string): Promise<{ sentAt: number; verdictAt: number }> {
  for (;;) {
    const { events } = await temporal.workflow.getHandle(deployOf(name)).fetchHistory();
    const all = events ?? [];
    const scheduled = new Map(
      all.map((event) => [
        String(event.eventId),
        event.activityTaskScheduledEventAttributes?.activityType?.name ?? undefined,
      ]),
    );
    const at = (
      type: string,
      attributes: 'activityTaskStartedEventAttributes' | 'activityTaskCompletedEventAttributes',
    ) => all.findLast((event) => scheduled.get(String(event[attributes]?.scheduledEventId)) === type)?.eventTime;
    const sent = at('revertUpdates', 'activityTaskStartedEventAttributes');
    const verdict = at('watchHealth', 'activityTaskCompletedEventAttributes');
    if (sent) return { sentAt: eventMs(sent), verdictAt: eventMs(verdict) };
    await delay(200);
  }
}

/** The time of an event of a history. */
export const eventMs = (time: { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined) =>
  Number(time?.seconds ?? 0) * 1_000 + Number(time?.nanos ?? 0) / 1e6;

export const deployOf = (name: string): string => workflowIds.deploy(name, 1, 'deploy', 1);

/** The median and the longest, in ms. */
export function spread(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b);
  return `${Math.round(sorted[Math.floor(sorted.length / 2)] ?? NaN)} ms, ${Math.round(sorted.at(-1) ?? NaN)} ms`;
}
