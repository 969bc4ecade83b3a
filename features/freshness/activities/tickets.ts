import { Context } from '@temporalio/activity';
import { ConveyorError } from '../../../domain/errors';
import { roundAgain, roundFrom, withEvent, type RoundEvent, type TicketRound } from '../domain/round';
import type { OpenTicket } from '../domain/ticket';
import { afterStep, reopens, ticketStep, withDue, type TicketStep } from '../domain/tickets';
import { MINUTE_MS } from '../../../domain/milliseconds';
import type { PipelineIndex } from '../../../domain/pipeline/pipelineIndex';
import { cutText } from '../../../domain/size';
import type { PipelineSummary } from '../../../domain/views';
import type { Registry } from '../../../settings/registry';
import { atOnce } from '../../../activities/atOnce';
import { withHeartbeats } from '../../../activities/clock';
import { createTicketService, type ServicePorts, type TicketService } from './ticketService';

export interface TicketPorts extends ServicePorts {
  readonly registry: Registry;
  readonly index: Pick<PipelineIndex, 'pipelines'>;
}

interface Patient {
  readonly heartbeatTimeoutMs: number;
}

export type TicketActivities = ReturnType<typeof createTicketActivities>;

/** Calls that are under way at the same time. */
const CALLS_AT_ONCE = 5;
/** After this time a slow service gets no more calls, so that the activity ends with its results before it is given up (`workflows/proxies.ts`). */
const MAX_TENDING_MS = 60 * MINUTE_MS;
/** A service that leaves this many calls of a run unanswered gets none of the rest. */
const MAX_UNANSWERED = 10;

/** Tickets for pipelines that are not being deployed (Push4Push, Conveyor §2.1). */
export function createTicketActivities(ports: TicketPorts) {
  return {
    /** Records the pipelines that get a ticket now; calls no service. */
    dueTickets: ({ open, ...patient }: Patient & { readonly open: readonly OpenTicket[] }): Promise<TicketRound> =>
      alive(patient, async () => {
        const now = await ports.clock.now();
        const { freshness } = ports.registry;
        if (freshness.tickets === null) return roundFrom(open, 0, now);
        const due = withDue(open, [...(await pipelinesByName(ports)).values()], freshness, now);
        return roundFrom(due.open, due.unticketed, now);
      }),
    /** Opens, changes and closes the recorded tickets that are due. A repetition makes each call only once. */
    tendTickets: ({ round, ...patient }: Patient & { readonly round: TicketRound }): Promise<TicketRound> =>
      alive(patient, () => tend(ports, roundAgain(round))),
  };
}

function alive<T>({ heartbeatTimeoutMs }: Patient, work: () => Promise<T>): Promise<T> {
  const { heartbeat } = Context.current();
  return withHeartbeats(heartbeatTimeoutMs / 3, () => heartbeat(), work);
}

/** By name; a pipeline that ended and was applied again has its present state. */
async function pipelinesByName({ index }: TicketPorts): Promise<ReadonlyMap<string, PipelineSummary>> {
  const pipelines = new Map<string, PipelineSummary>();
  for await (const pipeline of index.pipelines()) pipelines.set(pipeline.id, pipeline);
  return pipelines;
}

async function tend(ports: TicketPorts, round: TicketRound): Promise<TicketRound> {
  const { freshness } = ports.registry;
  if (freshness.tickets === null) return { ...round, problem: NO_SERVICE };
  const service = createTicketService(ports, ports.registry.find('tickets', freshness.tickets), round);
  const [pipelines, now] = [await pipelinesByName(ports), await ports.clock.now()];
  const steps = round.open.map((ticket) => ticketStep(ticket, pipelines.get(ticket.pipeline), freshness, now));
  const desk = new TicketDesk(service, async () => (await ports.clock.now()) - now >= MAX_TENDING_MS);
  const taken = new Map<TicketStep, TicketStepResult>();
  await atOnce(CALLS_AT_ONCE, steps, async (step) => void taken.set(step, await desk.take(step)));
  const all = steps.flatMap((step) => taken.get(step) ?? []);
  const open = all.flatMap(({ ticket }) => ticket ?? []);
  const after = all.reduce<TicketRound>((sum, { event }) => (event ? withEvent(sum, event) : sum), { ...round, open });
  return { ...after, problem: desk.outage };
}

const NO_SERVICE = 'freshness.tickets of conveyor.config.yaml names no service any more, so tickets stay as they are';

/** The result of a step: the ticket after it, or undefined if the ticket is closed. */
interface TicketStepResult {
  readonly ticket: OpenTicket | undefined;
  readonly event?: RoundEvent;
}

/** Takes steps to a service. A step that the service does not take leaves its ticket unchanged. */
class TicketDesk {
  private answers = 0;
  private silent = 0;
  private silence: string | null = null;

  constructor(
    private readonly service: TicketService,
    private readonly isOver: () => Promise<boolean>,
  ) {}

  /** The reason why the service took no step at all; null if it took one, or was asked for none. */
  get outage(): string | null {
    return this.answers === 0 ? this.silence : null;
  }

  async take(step: TicketStep): Promise<TicketStepResult> {
    if (step.kind === 'keep') return { ticket: step.ticket };
    if (this.silent >= MAX_UNANSWERED) return createMissedStep(step, 'late', this.silence ?? '');
    if (await this.isOver()) return createMissedStep(step, 'late', 'its service did not come to it within an hour');
    try {
      const taken = await this.ask(step);
      this.heard();
      return taken;
    } catch (error) {
      if (!(error instanceof ConveyorError)) throw error;
      if (error.code === 'extension-rejected') {
        this.heard();
        return createMissedStep(step, 'refused', error.message);
      }
      this.silent += 1;
      this.silence = error.message;
      return createMissedStep(step, 'late', error.message);
    }
  }

  private heard(): void {
    this.answers += 1;
    this.silent = 0;
  }

  /** @throws ConveyorError like the service */
  private async ask(step: Exclude<TicketStep, { kind: 'keep' }>): Promise<TicketStepResult> {
    const { service } = this;
    switch (step.kind) {
      case 'close':
        await service.close(step.ticket, step.reason);
        return { ticket: undefined, event: { kind: 'closed' } };
      case 'open':
        return {
          ticket: afterStep(step, { ticket: await service.open(step.ticket, step.text) }),
          event: { kind: 'opened' },
        };
      case 'update': {
        const kind = step.escalates ? 'escalated' : 'updated';
        const state = await service.update(step.ticket, step.text);
        if (!reopens(step, state)) return { ticket: afterStep(step, state === 'open' ? {} : CLOSED), event: { kind } };
        return { ticket: afterStep(step, { ticket: await service.open(step.ticket, step.text) }), event: { kind } };
      }
    }
  }
}

const CLOSED = { closedByHand: true } as const;

const createMissedStep = ({ ticket }: TicketStep, kind: 'late' | 'refused', why: string): TicketStepResult => ({
  ticket,
  event: { kind, said: cutText(`${ticket.pipeline}: ${why}`, 300) },
});
