import { MockActivityEnvironment } from '@temporalio/testing';
import { wallClock } from '../../activities/clock';
import { createTicketActivities } from '../../features/freshness/activities/tickets';
import type { TicketRound } from '../../features/freshness/domain/round';
import type { OpenTicket } from '../../features/freshness/domain/ticket';
import { DAY_MS } from '../../domain/milliseconds';
import type { PipelineSummary } from '../../domain/views';
import { parseRegistry } from '../../settings/registry';
import type { Fetch } from '../../sdk/request';

/**
 * Pipelines in memory, and the daily run over them: its activities are the real ones, and each run begins with the result of the previous one.
 * @param config merged over `{ freshness, extensions }` with the service `tracker`
 */
export class TicketWorld {
  readonly pipelines = new Map<string, PipelineSummary>();
  now = Date.parse('2026-11-24T09:00:00.000Z');
  open: readonly OpenTicket[] = [];

  constructor(
    private readonly fetch: Fetch,
    public config: object = {},
    private readonly env: Readonly<Record<string, string>> = {},
  ) {}

  /** A pipeline whose last deploy was this many days ago. */
  deployed(id: string, daysAgo: number, more: Partial<PipelineSummary> = {}): void {
    this.pipelines.set(id, {
      ...{ id, kind: 'pipeline', description: '', owners: ['group:storage'], labels: {}, state: 'active' },
      ...{ active: [], lastRelease: 1, deployedAt: new Date(this.now - daysAgo * DAY_MS).toISOString(), ...more },
    });
  }

  /** Does the run of this day, and moves to the next. An unanswered request is repeated this many times. */
  async day(again = 0): Promise<TicketRound> {
    let round = await this.due();
    for (let nth = 0; nth <= again; nth += 1) round = await this.tend(round);
    this.open = round.open;
    this.now += DAY_MS;
    return round;
  }

  due(): Promise<TicketRound> {
    const { dueTickets } = this.activities();
    return new MockActivityEnvironment().run(dueTickets, { open: this.open, heartbeatTimeoutMs: 10_000 });
  }

  tend(round: TicketRound): Promise<TicketRound> {
    const { tendTickets } = this.activities();
    return new MockActivityEnvironment().run(tendTickets, { round, heartbeatTimeoutMs: 10_000 });
  }

  private activities() {
    const { pipelines } = this;
    const extensions = [{ name: 'tracker', kind: 'tickets', url: 'http://simulator/tickets', timeout: '200ms' }];
    const freshness = { tickets: 'tracker', managers: { storage: 'user:maria' } };
    async function* listed(): AsyncGenerator<PipelineSummary> {
      yield* pipelines.values();
    }
    return createTicketActivities({
      registry: parseRegistry({ extensions, freshness, ...this.config }, this.env),
      clock: { ...wallClock, now: async () => this.now },
      fetch: this.fetch,
      index: { pipelines: listed },
    });
  }
}
