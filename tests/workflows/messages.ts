import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { Clock } from '../../activities/clock';
import { activityContext } from './activityEnds';
import { Arrivals } from './arrivals';

/** Trouble with messages of activities to workflows, which Temporal passes on. */
export interface MessageTrouble {
  /** Only messages to workflows whose ids begin with this. */
  readonly to: string;
  /** `answer-lost`: it arrives, and its sender never knows that, as if its worker were killed. `silent`: nothing arrives, and the sender waits. */
  readonly how: 'late' | 'lost' | 'answer-lost' | 'twice' | 'silent';
  /** Share of the messages that it hits. */
  readonly share: number;
  readonly delayMs: number;
}

/** All messages of a client, on their way to Temporal: a test may delay, lose and repeat those of activities, and sees each of them. */
export class Messages {
  private readonly troubles = new Set<MessageTrouble>();
  private chance = new Arrivals(1);
  /** Called before and after each message that may change a workflow. */
  watch: ((to: string) => Promise<void>) | null = null;

  constructor(private readonly clock: () => Clock) {}

  /** Ends all trouble. */
  reset(seed: number): void {
    this.troubles.clear();
    this.chance = new Arrivals(seed);
  }

  /** @returns a function that ends it */
  begin(trouble: MessageTrouble): () => void {
    this.troubles.add(trouble);
    return () => void this.troubles.delete(trouble);
  }

  readonly interceptor: WorkflowClientInterceptor = {
    signal: (input, next) => this.send(input.workflowExecution.workflowId, () => next(input)),
    signalWithStart: (input, next) => this.send(input.options.workflowId, () => next(input)),
    startUpdate: (input, next) => this.send(input.workflowExecution.workflowId, () => next(input)),
    query: (input, next) => this.pass(input.workflowExecution.workflowId, () => next(input)),
  };

  private async send<T>(to: string, deliver: () => Promise<T>): Promise<T> {
    if (activityContext() === undefined) return deliver();
    return this.pass(to, async () => {
      await this.watch?.(to);
      return deliver().finally(() => this.watch?.(to));
    });
  }

  private async pass<T>(to: string, deliver: () => Promise<T>): Promise<T> {
    const trouble = activityContext() && this.find(to);
    switch (trouble?.how) {
      case undefined:
        return deliver();
      case 'late':
        await this.clock().sleep(trouble.delayMs);
        return deliver();
      case 'lost':
        throw new Error('the message was lost');
      case 'answer-lost':
        await deliver();
        throw new Error('the answer was lost');
      case 'twice':
        await deliver();
        return deliver();
      case 'silent':
        await this.clock().sleep(trouble.delayMs);
        throw new Error('there was no answer');
    }
  }

  private find(to: string): MessageTrouble | undefined {
    return [...this.troubles].find((one) => to.startsWith(one.to) && this.chance.chance(one.share));
  }
}
