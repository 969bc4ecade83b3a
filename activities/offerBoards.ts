import { createHash } from 'node:crypto';
import { WorkflowNotFoundError, WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { workflowIds } from '../domain/ids';
import { sameJson } from '../domain/json';
import { formatSummary } from '../domain/markdown';
import {
  isBoardEmpty,
  isOfferForUser,
  isUsedBy,
  NO_OFFERS,
  reopenBoard,
  type ChangeMessage,
  type MakeMessage,
  type OfferBoard,
  type OfferRefusal,
  type PinMessage,
} from '../domain/offers/board';
import { listOffering, listPins, type GrantedOffer, type Wish } from '../domain/offers/judge';
import { packBoard } from '../domain/offers/packedBoard';
import { refusePin } from '../domain/offers/pinRefusal';
import { readBoard, readOffered, type AskOffers, type OfferedBoard } from '../domain/offers/readBoard';
import { findBrokenFor, type BrokenNews, type BrokenOffers } from '../domain/offers/risk';
import { isOpenStatus } from '../domain/openStatus';
import { isInRange } from '../sdk/versions';
import { SharedReads } from './sharedReads';

/** A query without an answer for so long fails, since later ones may wait for its end; ms. */
const QUERY_LIMIT_MS = 10_000;

/** Signals that change nothing if there is no offer and no user. */
export type OfferSignal = 'declare-offers' | 'end-change' | 'unpin-offers' | 'end-use';

/** The offers of pipelines, by name; null if a pipeline has none. */
type Looked = ReadonlyMap<string, OfferedBoard | null>;

/** The newest state of the offers of a pipeline, also after their workflow has ended; null if there was none. */
const findBoard = (client: Client, pipeline: string): Promise<OfferBoard | null> =>
  askWorkflow(client, pipeline, readBoard);

/** As `findBoard`, without the users. */
export const findOffered = (client: Client, pipeline: string): Promise<OfferedBoard | null> =>
  askWorkflow(client, pipeline, readOffered);

async function askWorkflow<T>(
  client: Client,
  pipeline: string,
  read: (ask: AskOffers) => Promise<T>,
): Promise<T | null> {
  const handle = client.workflow.getHandle(workflowIds.offers(pipeline));
  try {
    return await read((query) =>
      client.withAbortSignal(AbortSignal.timeout(QUERY_LIMIT_MS), () => handle.query(query)),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** Offers that a deploy uses without being their user. */
export interface Unpinned {
  /** The pipelines that have too many users for one more. */
  readonly full: readonly string[];
  /** The offers that are there no longer, or no longer for its pipeline. */
  readonly gone: readonly string[];
  /** The pipelines to notify, because the deploy has begun to use offers that are not made any more. Missing from earlier versions. */
  readonly broken?: BrokenOffers;
}

/**
 * An attempt of an activity whose time is up may still send its message, even after the deploy has ended and its pins are removed. With the id of an
 * earlier attempt's message, Temporal does not deliver it again.
 */
const formatUpdateId = (step: string, message: object): string =>
  `${step}/${createHash('sha256').update(JSON.stringify(message)).digest('hex')}`;

/** One notice for each pipeline. */
const joinNews = (news: readonly BrokenNews[]): readonly BrokenNews[] =>
  [...new Set(news.map(({ pipeline }) => pipeline))].map((pipeline) => ({
    pipeline,
    reason: news.flatMap((one) => (one.pipeline === pipeline ? one.reason : [])).join('; '),
  }));

/** Reads the workflows of offers (workflows/offers.ts), sends them messages, and restarts them with their last state. */
export class OfferBoards {
  /** Thousands of deploys may wait for the same offers, and a worker asks for these once at a time. */
  private readonly looks = new SharedReads((pipeline) => findOffered(this.client, pipeline));

  constructor(
    private readonly client: Client,
    private readonly taskQueue: string,
  ) {}

  /** The offers of these pipelines. */
  async look(pipelines: readonly string[]): Promise<Looked> {
    const read = pipelines.map(async (name) => [name, await this.looks.get(name)] as const);
    return new Map(await Promise.all(read));
  }

  /** Those of all pipelines that the wishes name. @param within may give up a read, whose offers are left out */
  async lookWithin(
    wishes: readonly Wish[],
    within: (read: Promise<OfferedBoard | null>) => Promise<OfferedBoard | null | undefined>,
  ): Promise<Looked> {
    const read = listOffering(wishes).map(
      async (name) => [name, (await within(findOffered(this.client, name))) ?? null] as const,
    );
    return new Map(await Promise.all(read));
  }

  /** A pipeline that has no room for the pins of a deploy. */
  async findFull(
    by: Pick<PinMessage, 'user' | 'release' | 'place'>,
    granted: readonly GrantedOffer[],
    looked: Looked,
  ): Promise<string | undefined> {
    for (const { from, pin } of listPins(by, granted)) {
      if (looked.get(from)?.isRoomy) continue;
      const board = await this.find(from);
      if (board && refusePin(board, pin) === 'full') return from;
    }
    return undefined;
  }

  find(pipeline: string): Promise<OfferBoard | null> {
    return findBoard(this.client, pipeline);
  }

  async make(pipeline: string, message: MakeMessage): Promise<void> {
    if (await this.isOpen(pipeline)) await this.handle(pipeline).signal('make-offers', message);
    else await this.restart(pipeline, await this.find(pipeline), 'make-offers', message);
  }

  /** Sends a signal if anything is known of these offers. */
  async signal(pipeline: string, signal: OfferSignal, message: unknown): Promise<void> {
    if (await this.isOpen(pipeline)) return this.handle(pipeline).signal(signal, message);
    const board = await this.find(pipeline);
    if (board && !isBoardEmpty(board)) await this.restart(pipeline, board, signal, message);
  }

  /** Sends the offers of a file, unless they are known. */
  async declare(pipeline: string, declared: readonly string[]): Promise<void> {
    const known = await findOffered(this.client, pipeline);
    if (known && !sameJson(known.declared, declared)) await this.signal(pipeline, 'declare-offers', declared);
  }

  /** Announces a change of offers. @param step the same for all attempts of an activity */
  change(pipeline: string, message: ChangeMessage, step: string): Promise<OfferRefusal | null> {
    return this.update(pipeline, 'change-offers', message, step);
  }

  /** Pins all offers that are granted to a deploy, pipeline by pipeline, up to the first that refuses. @param step as above */
  async pin(
    by: Omit<PinMessage, 'uses'>,
    granted: readonly GrantedOffer[],
    step: string,
  ): Promise<OfferRefusal | null> {
    for (const { from, pin } of listPins(by, granted)) {
      const refusal = await this.update(from, 'pin-offers', pin, step);
      if (refusal !== null) return refusal;
    }
    return null;
  }

  /** Pins them for a deploy that has begun. */
  async pinAnyway(
    by: Omit<PinMessage, 'uses' | 'anyway'>,
    granted: readonly GrantedOffer[],
    step: string,
  ): Promise<Unpinned> {
    const full: string[] = [];
    const gone: string[] = [];
    const news: BrokenNews[] = [];
    for (const { from, pin } of listPins({ ...by, anyway: true }, granted)) {
      if ((await this.update(from, 'pin-offers', pin, step)) === 'full') full.push(from);
      const offers = (await findOffered(this.client, from))?.offers ?? [];
      const asked = pin.uses.map(({ offer }) => ({ name: offer, made: offers.find(({ name }) => name === offer) }));
      // The users are read only if they matter.
      const isPlain = asked.every(({ made }) => made && !made.notMadeBy && isOfferForUser(made, by.user));
      const board = isPlain ? null : await this.find(from);
      const isPinned = (offer: string): boolean => board !== null && isUsedBy(board, offer, by.user);
      // One that is no longer for this user stays pinned if it was.
      const lost = asked.filter(({ name, made }) => !made || (!isOfferForUser(made, by.user) && !isPinned(name)));
      gone.push(...lost.map(({ name }) => `${name} of ${from}`));
      if (board) news.push(...findBrokenFor(from, board, by, isInRange));
    }
    return { full, gone, ...(news.length > 0 ? { broken: { news: joinNews(news), more: 0 } } : {}) };
  }

  private async update(pipeline: string, name: string, message: object, step: string): Promise<OfferRefusal | null> {
    if (!(await this.isOpen(pipeline))) {
      const board = await this.find(pipeline);
      if (board === null || isBoardEmpty(board)) return 'changed';
      await this.client.workflow.start('offers', {
        ...this.start(pipeline, board),
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
    }
    try {
      await this.handle(pipeline).executeUpdate(name, { args: [message], updateId: formatUpdateId(step, message) });
      return null;
    } catch (error) {
      if (!(error instanceof WorkflowUpdateFailedError)) throw error;
      const { cause } = error;
      return cause instanceof ApplicationFailure && cause.type === 'full' ? 'full' : 'changed';
    }
  }

  /** If it is, its state need not be read in order to send it a message. */
  private async isOpen(pipeline: string): Promise<boolean> {
    try {
      return isOpenStatus((await this.handle(pipeline).describe()).status.name);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  private async restart(pipeline: string, board: OfferBoard | null, signal: string, message: unknown): Promise<void> {
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
      args: [{ board: packBoard(reopenBoard(board ?? NO_OFFERS)) }],
      staticSummary: formatSummary(`offers of ${pipeline}`),
    };
  }

  private handle(pipeline: string) {
    return this.client.workflow.getHandle(workflowIds.offers(pipeline));
  }
}
