import { z } from 'zod';
import type { OfRelease } from '../../domain/ids';
import { parseAlertKey } from '../../domain/notify/alert';
import { onOneLine } from '../../domain/plainText';
import { formatTime } from '../../domain/text';

/** A report of a paging service that a person cares for an incident. */
export interface PagerAcknowledgement {
  readonly of: OfRelease;
  readonly by: string;
  readonly atMs: number;
}

/** The relevant part of a webhook of PagerDuty (v3). */
export const pagerDutySchema = z.object({
  event: z.object({
    event_type: z.string(),
    occurred_at: z.iso.datetime({ offset: true }),
    agent: z.object({ summary: z.string().nullish(), type: z.string().optional() }).nullish(),
    data: z.object({ incident_key: z.string().nullish() }),
  }),
});

/** Null for other events, for those of programs, and for incidents that are not Conveyor's. */
export function readPagerDuty({ event }: z.output<typeof pagerDutySchema>): PagerAcknowledgement | null {
  const { event_type: type, occurred_at: at, agent, data } = event;
  const of = parseAlertKey(data.incident_key ?? '');
  if (!['incident.acknowledged', 'incident.resolved'].includes(type) || of === undefined) return null;
  if (agent == null || agent.type !== 'user_reference') return null;
  return { of, by: nameAgent(agent.summary, 'PagerDuty'), atMs: Date.parse(at) };
}

/** The relevant part of an outgoing webhook of Opsgenie. */
export const opsgenieSchema = z.object({
  action: z.string(),
  alert: z.object({ alias: z.string().optional(), username: z.string().nullish() }),
});

/** Null for other actions, and for alerts that are not Conveyor's. Opsgenie does not say when it happened. */
export function readOpsgenie(
  { action, alert: { alias = '', username } }: z.output<typeof opsgenieSchema>,
  nowMs: number,
): PagerAcknowledgement | null {
  const of = parseAlertKey(alias);
  if (!['Acknowledge', 'Close'].includes(action) || of === undefined || isProgram(username)) return null;
  return { of, by: nameAgent(username, 'Opsgenie'), atMs: nowMs };
}

/** Conveyor's own requests come back under the name of its integration. */
const isProgram = (username: string | null | undefined): boolean =>
  username == null || ['', 'System', 'Alert API', 'Conveyor'].includes(username);

const LONGEST_AGENT = 100;

const nameAgent = (name: string | null | undefined, service: string): string =>
  `${onOneLine(name ?? 'a person').slice(0, LONGEST_AGENT)} in ${service}`;

/** An acknowledgement that was recorded long ago is refused, whatever its signature. */
export const whyTooLate = ({ atMs }: PagerAcknowledgement, nowMs: number): string | undefined =>
  Math.abs(nowMs - atMs) > LATEST_MS ? `it is of ${formatTime(atMs)}` : undefined;

/** PagerDuty delivers again for two days. */
const LATEST_MS = 48 * 3_600_000;
