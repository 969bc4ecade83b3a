import { WorkflowNotFoundError, WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { workflowIds } from '../domain/ids';
import { formatSummary } from '../domain/markdown';
import {
  isBoardEmpty,
  NO_OFFERS,
  type ChangeMessage,
  type MakeMessage,
  type OfferBoard,
  type OfferRefusal,
  type PinMessage,
} from '../domain/offers/board';
import { listOffering, type Boards, type GrantedOffer, type Wish } from '../domain/offers/judge';
import { isOpenStatus } from '../domain/openStatus';
import { hasNoSuchQuery } from '../domain/queryRefusals';

/** Signals that change nothing if there is no offer and no user. */
export type OfferSignal = 'declare-offers' | 'end-change' | 'unpin-offers' | 'end-use';

/** Reads the workflows of offers (workflows/offers.ts), sends them messages, and restarts them with their last state. */
export class OfferBoards {
  constructor(
    private readonly client: Client,
    private readonly taskQueue: string,
  ) {}

  /** The boards of all pipelines that the wishes name. @param within may give up a read, whose board is left out */
  async read(
    wishes: readonly Wish[],
    within: (read: Promise<OfferBoard | null>) => Promise<OfferBoard | null | undefined> = (read) => read,
  ): Promise<Boards> {
    const read = listOffering(wishes).map(async (name) => [name, (await within(this.find(name))) ?? null] as const);
    return new Map(await Promise.all(read));
  }

  /** The newest state of the offers of a pipeline, also after their workflow has ended; null if there was none. */
  async find(pipeline: string): Promise<OfferBoard | null> {
    try {
      return await this.handle(pipeline).query<OfferBoard>('board');
    } catch (error) {
      if (error instanceof WorkflowNotFoundError || hasNoSuchQuery(error)) return null;
      throw error;
    }
  }

  async make(pipeline: string, message: MakeMessage): Promise<void> {
    await this.send(pipeline, await this.find(pipeline), 'make-offers', message);
  }

  /** Sends a signal if anything is known of these offers. */
  async signal(pipeline: string, signal: OfferSignal, message: unknown): Promise<void> {
    const board = await this.find(pipeline);
    if (board && !isBoardEmpty(board)) await this.send(pipeline, board, signal, message);
  }

  /** Announces a change of offers. */
  change(pipeline: string, message: ChangeMessage): Promise<OfferRefusal | null> {
    return this.update(pipeline, 'change-offers', message);
  }

  /** Pins all offers that are granted to a deploy, pipeline by pipeline, up to the first that refuses. */
  async pin(
    { user, release, anyway }: Omit<PinMessage, 'uses'>,
    granted: readonly GrantedOffer[],
  ): Promise<OfferRefusal | null> {
    for (const from of new Set(granted.map((one) => one.from))) {
      const uses = granted.filter((one) => one.from === from).map(({ use }) => use);
      const message: PinMessage = { user, release, uses, ...(anyway ? { anyway } : {}) };
      const refusal = await this.update(from, 'pin-offers', message);
      if (refusal !== null && !anyway) return refusal;
    }
    return null;
  }

  private async update(pipeline: string, name: string, message: object): Promise<OfferRefusal | null> {
    const handle = this.handle(pipeline);
    const board = await this.find(pipeline);
    if (board === null || isBoardEmpty(board)) return 'changed';
    if (!isOpenStatus((await handle.describe()).status.name))
      await this.client.workflow.start('offers', {
        ...this.start(pipeline, board),
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
    try {
      await handle.executeUpdate(name, { args: [message] });
      return null;
    } catch (error) {
      if (!(error instanceof WorkflowUpdateFailedError)) throw error;
      const { cause } = error;
      return cause instanceof ApplicationFailure && cause.type === 'full' ? 'full' : 'changed';
    }
  }

  private async send(pipeline: string, board: OfferBoard | null, signal: string, message: unknown): Promise<void> {
    await this.client.workflow.signalWithStart('offers', {
      ...this.start(pipeline, board),
      signal,
      signalArgs: [message],
    });
  }

  private start(pipeline: string, board: OfferBoard | null) {
    return {
      workflowId: workflowIds.offers(pipeline),
      taskQueue: this.taskQueue,
      // Nothing is left of an empty one but its numbers.
      args: [
        {
          board: board && isBoardEmpty(board) ? { ...NO_OFFERS, seq: board.seq, rev: board.rev } : (board ?? NO_OFFERS),
        },
      ],
      staticSummary: formatSummary(`offers of ${pipeline}`),
    };
  }

  private handle(pipeline: string) {
    return this.client.workflow.getHandle(workflowIds.offers(pipeline));
  }
}
