import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { Artifact } from '../domain/artifact';
import type { DeployInput } from '../domain/deploy/state';
import { workflowIds } from '../domain/ids';
import { sameJson } from '../domain/json';
import { refusePin, type MakeMessage, type PinMessage } from '../domain/offers/board';
import {
  grantAnyway,
  judgeWishes,
  listNarrowed,
  whyUnfit,
  type Boards,
  type GrantedOffer,
  type OfferPlan,
  type Wish,
  type WishAnswer,
} from '../domain/offers/judge';
import { listDeclaredOffers, listOffersAfter, resolveOffers, type KnownOffers } from '../domain/offers/ofPipeline';
import type { PipelineState } from '../domain/pipeline/state';
import type { ReleaseInput } from '../domain/release/state';
import { isInRange } from '../sdk/versions';
import { promptly, REVERT_PATIENCE_MS, type Clock } from './clock';
import { stillWaiting } from './failure';
import { OfferBoards, type OfferSignal } from './offerBoards';
import { findInput } from './readInput';
import { pipelineKnows } from './waitFor';

export type OfferActivities = ReturnType<typeof createOfferActivities>;

/** A deploy with the offers of other pipelines that it needs, and those that it makes. */
export interface OfferAsk {
  readonly pipeline: string;
  /** The name of the deploy as a user of offers: `auth/deploy`. */
  readonly user: string;
  readonly release: number;
  readonly wishes: readonly Wish[];
  /** Null if its pipeline has never offered anything. */
  readonly plan: OfferPlan | null;
}

export interface OfferRun extends OfferAsk {
  /** The last answer. */
  readonly seen: string | null;
  /** The time until it is asked again; ms. */
  readonly intervalMs: number;
}

export interface KnownOffersAsk {
  readonly pipeline: string;
  readonly wishes: readonly Wish[];
  /** Deploys of earlier releases, the best first. */
  readonly before: readonly EarlierDeploy[];
  /** Whether the present values count even if an earlier deploy is known. */
  readonly needsPresent: boolean;
  readonly isPrompt: boolean;
}

/** The deploy of an earlier release, whose attempts are numbered. */
export interface EarlierDeploy {
  readonly pipeline: string;
  readonly release: number;
  readonly action: string;
}

/** The release whose offers a deploy of another release brings back. */
export interface RestoredOffers extends Pick<MakeMessage, 'release' | 'action'> {
  /** Null if it is not known. */
  readonly of: number | null;
  readonly artifacts: readonly Artifact[];
}

interface OfferParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly taskQueue: string;
}

/** Offers and their users may change between a look and the message after it, so both are tried at most this many times. */
const TRIES = 3;
/** The attempts of an earlier deploy of which one may have run. */
const ATTEMPTS = [5, 4, 3, 2, 1];

/** Activities that make the offers of a pipeline, and wait for and pin those of other pipelines. */
export function createOfferActivities({ client, clock, taskQueue }: OfferParts) {
  const boards = new OfferBoards(client, taskQueue);
  const judge = async (ask: OfferAsk): Promise<WishAnswer> => {
    const { pipeline, wishes, plan } = ask;
    const unfit = plan && whyUnfit(await boards.find(pipeline), plan, isInRange);
    if (unfit) return { ...WAITING, reason: unfit, unmet: [] };
    const read = await boards.read(wishes);
    const answer = judgeWishes(pipeline, wishes, read, isInRange);
    return answer.kind === 'satisfied' && isFull(ask, read, answer.granted)
      ? { ...WAITING, reason: 'too many deploys use these offers', unmet: wishes }
      : answer;
  };
  return {
    /**
     * Answers as soon as a deploy has all offers that it needs and may make its own, or the reason why it waits changes. Until then it fails and
     * gives the time of the next try, as `waitForRelease` does.
     */
    offerNews: async ({ seen, intervalMs, ...ask }: OfferRun): Promise<WishAnswer> => {
      const answer = await judge(ask);
      if (answer.kind === 'satisfied' || answer.reason !== seen) return answer;
      Context.current().heartbeat({ message: answer.reason });
      throw stillWaiting(answer.reason, intervalMs);
    },

    /**
     * For a deploy that has its turn: announces the change of its own offers, so that no new user pins one that will not fit it, and pins the
     * offers that it uses. `waiting`: one of them is gone, or no longer fits.
     */
    takeOffers: async (ask: OfferAsk): Promise<WishAnswer> => {
      for (let tries = 1; ; tries += 1) {
        const answer = await judge(ask);
        if (answer.kind === 'waiting') return answer;
        const refusal = (await announce(boards, ask)) ?? (await boards.pin(ask, answer.granted));
        if (refusal === null) return answer;
        if (tries >= TRIES) return { ...WAITING, reason: 'the offers keep changing', unmet: ask.wishes };
      }
    },

    /**
     * Sends the workflow of a pipeline's offers those that a deploy has made. It starts that workflow if there is none, with the offers of one that
     * was ended from outside.
     */
    makeOffers: (pipeline: string, message: Omit<MakeMessage, 'declared'>): Promise<void> =>
      makeDeclared(client, boards, pipeline, message),

    /** Makes the offers of the release that a rollback has restored, with the file that it had. None if Temporal no longer knows it. */
    restoreOffers: (pipeline: string, restored: RestoredOffers): Promise<void> =>
      makeRestored(client, boards, pipeline, restored),

    /** Sends a message to a workflow of offers that was ended from outside: it is started again with its last state. */
    signalOffers: (pipeline: string, signal: OfferSignal, message: unknown): Promise<void> =>
      boards.signal(pipeline, signal, message),

    /**
     * The values for a deploy that does not wait for offers: those of an earlier deploy with its configuration, and the present ones. `prompt`: the
     * pipelines that do not answer within a second are left out. Temporal itself is asked until it answers.
     */
    readOffers: async ({ pipeline, wishes, before, needsPresent, isPrompt }: KnownOffersAsk): Promise<KnownOffers> => {
      const earlier = await readEarlier(client, before);
      if (earlier && !needsPresent) return { earlier, present: [] };
      const read = await boards.read(wishes, isPrompt ? (one) => promptly(clock, REVERT_PATIENCE_MS, one) : undefined);
      return { earlier, present: grantAnyway(pipeline, wishes, read) };
    },

    /** Pins the offers of a deploy that began without pins. */
    pinAnyway: async (by: Pick<PinMessage, 'user' | 'release'>, granted: readonly GrantedOffer[]): Promise<void> => {
      await boards.pin({ ...by, anyway: true }, granted);
    },
  };
}

async function makeRestored(
  client: Client,
  boards: OfferBoards,
  pipeline: string,
  { of, artifacts, ...by }: RestoredOffers,
): Promise<void> {
  const input = (of === null ? undefined : await findInput(client, workflowIds.release(pipeline, of))) as
    ReleaseInput | undefined;
  const resolved = input ? resolveOffers(listOffersAfter(input.spec, by.action), artifacts) : { made: [] };
  // Even if nothing is made, the changes of earlier releases are over.
  await makeDeclared(client, boards, pipeline, { ...by, made: 'made' in resolved ? resolved.made : [] });
}

/** Another file may be applied meanwhile. Then its offers count. */
async function makeDeclared(
  client: Client,
  boards: OfferBoards,
  pipeline: string,
  message: Omit<MakeMessage, 'declared'>,
): Promise<void> {
  for (let sent: readonly string[] | undefined; ;) {
    const known = await pipelineKnows<Pick<PipelineState, 'spec' | 'retired'>>(client, pipeline);
    const declared = known === null ? [] : listDeclaredOffers(known);
    if (sent && sameJson(sent, declared)) return;
    if (sent) await boards.signal(pipeline, 'declare-offers', declared);
    else await boards.make(pipeline, { ...message, declared });
    sent = declared;
  }
}

const WAITING = { kind: 'waiting' } as const;

/** Only a change that may not fit new users is announced. */
async function announce(boards: OfferBoards, { pipeline, release, plan }: OfferAsk) {
  const board = plan && (await boards.find(pipeline));
  if (!plan || !board) return null;
  // A user may have come since the look.
  if (whyUnfit(board, plan, isInRange) !== undefined) return 'changed';
  const offers = listNarrowed(board, plan);
  if (offers.length === 0) return null;
  return boards.change(pipeline, { release, action: plan.action, offers, rev: board.rev });
}

/** The first of these deploys that Temporal knows, by its newest attempt. Its history is read, which needs no worker. */
async function readEarlier(client: Client, deploys: readonly EarlierDeploy[]): Promise<KnownOffers['earlier']> {
  for (const { pipeline, release, action } of deploys) {
    const ids = ATTEMPTS.map((attempt) => workflowIds.deploy(pipeline, release, action, attempt));
    const inputs = await Promise.all(ids.map((id) => findInput(client, id)));
    const input = inputs.find((one) => one !== undefined) as DeployInput | undefined;
    if (input) {
      const { pushType, config } = input.spec;
      return { pushType, config, granted: input.wishes ?? [] };
    }
  }
  return null;
}

/** Whether a pipeline has no room for one more user. */
const isFull = ({ user, release }: OfferAsk, boards: Boards, granted: readonly GrantedOffer[]): boolean =>
  [...boards].some(([from, board]) => {
    const uses = granted.filter((one) => one.from === from).map(({ use }) => use);
    return board !== null && refusePin(board, { user, release, uses }) === 'full';
  });
