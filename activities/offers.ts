import type { Client } from '@temporalio/client';
import type { Artifact } from '../domain/artifact';
import type { DeployInput } from '../domain/deploy/state';
import { workflowIds } from '../domain/ids';
import { sameJson } from '../domain/json';
import type { MakeMessage, PinMessage } from '../domain/offers/board';
import { grantAnyway, type GrantedOffer, type Wish } from '../domain/offers/judge';
import { listDeclaredOffers, planRestored, type KnownOffers } from '../domain/offers/ofPipeline';
import { findBroken, withOutside, type BrokenOffers } from '../domain/offers/risk';
import { listWithdrawals, type Withdrawal } from '../domain/offers/withdrawals';
import { findFormerName } from '../domain/pipeline/specChange';
import type { PipelineState } from '../domain/pipeline/state';
import type { ReleaseInput } from '../domain/release/state';
import type { PipelineSpec } from '../domain/spec/pipeline';
import { isInRange } from '../sdk/versions';
import { promptly, REVERT_PATIENCE_MS, type Clock } from './clock';
import { OfferBoards, type OfferSignal } from './offerBoards';
import { createOfferLooks } from './offerLooks';
import { findInput } from './readInput';
import { nameStep } from './step';
import { pipelineKnows } from './waitFor';

export type OfferActivities = ReturnType<typeof createOfferActivities>;

export interface KnownOffersAsk {
  readonly pipeline: string;
  readonly wishes: readonly Wish[];
  /** Another push type would not understand the configuration of an earlier deploy. Null: that of the deploy counts. */
  readonly pushType: string | null;
  /** Deploys of earlier releases, the best first. */
  readonly before: readonly EarlierDeploy[];
  /** The release that asks; its file may have another name for the deploy. Missing from earlier versions. */
  readonly release?: number;
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
export interface RestoredOffers extends Pick<MakeMessage, 'release' | 'place' | 'action'> {
  /** Null if it is not known. */
  readonly of: number | null;
  readonly artifacts: readonly Artifact[];
}

interface OfferParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly taskQueue: string;
  /** The number of looks that may stay at once (`OfferWatch`). */
  readonly stays: number;
}

/** The attempts of an earlier deploy of which one may have run. */
const ATTEMPTS = [5, 4, 3, 2, 1];

/** Activities that make the offers of a pipeline, and wait for and pin those of other pipelines. */
export function createOfferActivities({ client, clock, taskQueue, stays }: OfferParts) {
  const boards = new OfferBoards(client, taskQueue);
  return {
    ...createOfferLooks({ client, clock, boards, stays }),

    /**
     * Sends the workflow of a pipeline's offers those that a deploy has made. It starts that workflow if there is none, with the offers of one that
     * was ended from outside.
     * @returns the pipelines that are to be notified that it has broken offers
     */
    makeOffers: (pipeline: string, message: Omit<MakeMessage, 'declared'>): Promise<BrokenOffers> =>
      makeDeclared(client, boards, pipeline, message),

    /** Makes the offers of the release that a rollback has restored, with the file that it had. None if Temporal no longer knows it. */
    restoreOffers: (pipeline: string, restored: RestoredOffers): Promise<BrokenOffers> =>
      makeRestored(client, boards, pipeline, restored),

    /** The receivers of notices about broken offers, as the file of a pipeline has them at present. */
    findReceivers: (pipeline: string): Promise<PipelineSpec['notify']> => findReceivers(client, pipeline),

    /**
     * Sends a message to a workflow of offers that was ended from outside: it is started again with its last state. A list of offers may be older than
     * one that has arrived already, so the present one is sent.
     */
    signalOffers: async (pipeline: string, signal: OfferSignal, message: unknown): Promise<void> => {
      if (signal === 'declare-offers') await declarePresent(client, boards, pipeline);
      else await boards.signal(pipeline, signal, message);
    },

    /**
     * The values for a deploy that does not wait for offers: those of an earlier deploy with its configuration, and the present ones. `prompt`: the
     * pipelines that do not answer within a second are left out. Temporal itself is asked until it answers.
     */
    readOffers: async ({ pipeline, wishes, needsPresent, isPrompt, ...ask }: KnownOffersAsk): Promise<KnownOffers> => {
      const earlier = await readEarlier(client, ask);
      if (earlier && !needsPresent) return { earlier, present: [] };
      const read = await boards.lookWithin(wishes, (one) =>
        isPrompt ? promptly(clock, REVERT_PATIENCE_MS, one) : one,
      );
      return { earlier, present: grantAnyway(pipeline, wishes, read) };
    },

    /** Whether a pipeline withdraws an offer that a deploy uses, and that undeploys it. */
    isWithdrawn: async (from: string, { user, offer }: Withdrawal): Promise<boolean> => {
      const board = await boards.find(from);
      return board !== null && listWithdrawals(board).some((one) => one.user === user && one.offer === offer);
    },

    /** Pins the offers of a deploy that began without pins. */
    pinAnyway: async (by: Pick<PinMessage, 'user' | 'release' | 'place'>, granted: readonly GrantedOffer[]) =>
      boards.pinAnyway(by, granted, nameStep()),
  };
}

async function makeRestored(
  client: Client,
  boards: OfferBoards,
  pipeline: string,
  { of, artifacts, ...by }: RestoredOffers,
): Promise<BrokenOffers> {
  const file = of === null ? undefined : await findFile(client, pipeline, of);
  const name = file && (await findEarlierName(client, { ...by, pipeline }, file));
  const restored = file && name ? planRestored(file, name, artifacts) : { made: [], elsewhere: [] };
  // Even if nothing is made, the changes of earlier releases are over, and so are their offers.
  const formerly = name === undefined || name === by.action ? {} : { formerly: name };
  return makeDeclared(client, boards, pipeline, { ...by, ...restored, ...formerly });
}

/** The file of a release; undefined if Temporal does not know it. Its history is read, which needs no worker. */
const findFile = async (client: Client, pipeline: string, release: number): Promise<PipelineSpec | undefined> =>
  ((await findInput(client, workflowIds.release(pipeline, release))) as ReleaseInput | undefined)?.spec;

/** The name that a deploy of a release has in an earlier file, in which it may have been another. */
async function findEarlierName(
  client: Client,
  { pipeline, release, action }: EarlierDeploy,
  earlier: PipelineSpec,
): Promise<string> {
  if (earlier.actions[action]?.type === 'deploy') return action;
  const file = await findFile(client, pipeline, release);
  return file ? findFormerName(earlier.actions, file.actions, action) : action;
}

/**
 * The workflow of the offers may have missed the last file, and makes only offers of the file that it knows. Another file may be applied meanwhile.
 */
async function makeDeclared(
  client: Client,
  boards: OfferBoards,
  pipeline: string,
  message: Omit<MakeMessage, 'declared'>,
): Promise<BrokenOffers> {
  const declared = await declarePresent(client, boards, pipeline);
  const before = await boards.find(pipeline);
  const made = message.made.map((offer) => withOutside(before, offer, isInRange));
  await boards.make(pipeline, { ...message, made, declared });
  await declarePresent(client, boards, pipeline, declared);
  const after = await boards.find(pipeline);
  return findBroken({ pipeline, release: message.release, before, after }, isInRange);
}

/** Sends the offers of the file that a pipeline has at present, and returns them. @param sent those that were sent already */
async function declarePresent(
  client: Client,
  boards: OfferBoards,
  pipeline: string,
  sent?: readonly string[],
): Promise<readonly string[]> {
  for (let last = sent; ;) {
    const known = await pipelineKnows<Pick<PipelineState, 'spec' | 'retired'>>(client, pipeline);
    const declared = known === null ? [] : listDeclaredOffers(known);
    if (last && sameJson(last, declared)) return declared;
    await boards.declare(pipeline, declared);
    last = declared;
  }
}

async function findReceivers(client: Client, pipeline: string): Promise<PipelineSpec['notify']> {
  const known = await pipelineKnows<Pick<PipelineState, 'spec'>>(client, pipeline);
  return (known?.spec.notify ?? []).filter(({ on }) => on.includes('offer-broken'));
}

/** The first of these deploys that Temporal knows, by its newest attempt. Its history is read, which needs no worker. */
async function readEarlier(
  client: Client,
  { before, pushType: wanted, release }: Pick<KnownOffersAsk, 'before' | 'pushType' | 'release'>,
): Promise<KnownOffers['earlier']> {
  for (const deploy of before) {
    const input = (await findDeploy(client, deploy)) ?? (await findRenamed(client, deploy, release));
    if (input && (wanted === null || input.spec.pushType === wanted)) {
      const { pushType, config } = input.spec;
      return { pushType, config, granted: input.wishes ?? [] };
    }
  }
  return null;
}

async function findDeploy(client: Client, { pipeline, release, action }: EarlierDeploy) {
  const ids = ATTEMPTS.map((attempt) => workflowIds.deploy(pipeline, release, action, attempt));
  const inputs = await Promise.all(ids.map((id) => findInput(client, id)));
  return inputs.find((one) => one !== undefined) as DeployInput | undefined;
}

/** The deploy under the name that it had then. @param by the release that asks */
async function findRenamed(client: Client, deploy: EarlierDeploy, by: number | undefined) {
  const file = by === undefined ? undefined : await findFile(client, deploy.pipeline, deploy.release);
  if (by === undefined || file === undefined) return undefined;
  const action = await findEarlierName(client, { ...deploy, release: by }, file);
  return action === deploy.action ? undefined : findDeploy(client, { ...deploy, action });
}
