import { TICKET_LIMITS } from '../../../domain/limits';
import { alignCells, list, formatMarkdown, sections } from '../../../domain/markdown';
import { formatTime } from '../../../domain/text';
import type { OpenTicket } from './ticket';

/** The state of a daily run; its final state is the memory of the next run. */
export interface TicketRound {
  /** The time when it began. */
  readonly at: string;
  readonly open: readonly OpenTicket[];
  /** Pipelines that are stale and have no ticket, because the maximum number is open. */
  readonly unticketed: number;
  readonly opened: number;
  readonly updated: number;
  readonly escalated: number;
  readonly closed: number;
  /** The number of requests that the service did not answer; the next run asks again. */
  readonly late: number;
  readonly refused: number;
  /** The reason why no ticket could be handled at all; null if some could. */
  readonly problem: string | null;
  /** The first reasons for unanswered or refused requests. */
  readonly said: readonly string[];
}

/** The input of the workflow that a Temporal Schedule starts each day. */
export interface FreshnessOrder {
  readonly heartbeatTimeoutMs: number;
}

/** One more event in a run. */
export type RoundEvent =
  | { readonly kind: 'opened' | 'updated' | 'escalated' | 'closed' }
  | { readonly kind: 'late' | 'refused'; readonly said: string };

/** The times that a run waits before it repeats unanswered requests; after the last one the next run does. */
export const ASK_REST_AFTER_MS: readonly number[] = [5 * 60_000, 30 * 60_000, 120 * 60_000];

export const roundFrom = (open: readonly OpenTicket[], unticketed: number, nowMs: number): TicketRound => ({
  ...{ at: formatTime(nowMs), open, unticketed, problem: null, said: [] },
  ...{ opened: 0, updated: 0, escalated: 0, closed: 0, late: 0, refused: 0 },
});

/** The state before the unanswered requests are repeated. */
export const roundAgain = (round: TicketRound): TicketRound => ({
  ...round,
  ...{ late: 0, refused: 0, problem: null, said: [] },
});

export function withEvent(round: TicketRound, event: RoundEvent): TicketRound {
  const counted = { ...round, [event.kind]: round[event.kind] + 1 };
  if (!('said' in event) || round.said.length >= TICKET_LIMITS.said.max) return counted;
  return { ...counted, said: [...round.said, event.said] };
}

/** For the Web UI. */
export function roundDetails(round: TicketRound | null): string {
  if (round === null) return sections(formatMarkdown`Looks for pipelines that have not been deployed for long.`);
  const { open, problem, said } = round;
  const rows = ROUND_WORDS.map(([name, what]) => [String(round[name]), what]);
  return sections(
    formatMarkdown`**${String(open.length)}** tickets are open for pipelines that have not been deployed for long.`,
    ...(problem === null ? [] : [formatMarkdown`${problem}`]),
    alignCells(rows),
    list(
      'Not done:',
      said.map((one) => formatMarkdown`${one}`),
    ),
  );
}

const ROUND_WORDS = [
  ['opened', 'opened'],
  ['updated', 'changed'],
  ['escalated', 'escalated'],
  ['closed', 'closed'],
  ['late', 'without an answer: asked again'],
  ['refused', 'refused'],
  ['unticketed', 'pipelines without one, as too many are open'],
] as const;
