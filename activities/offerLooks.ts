import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { deployId } from '../domain/ids';
import { untilNextLook } from '../domain/looks';
import { parseUser, pickRelease, type OfferRefusal, type PlacedRelease } from '../domain/offers/board';
import { addCircle, keepCircle } from '../domain/offers/circles';
import {
  announceChange,
  cutUnfit,
  formatFull,
  judgeWishes,
  listOffering,
  listUnfit,
  pickMade,
  planChange,
  whyUnfit,
  type OfferPlan,
  type Wish,
  type WishAnswer,
} from '../domain/offers/judge';
import { whyNoRoom } from '../domain/offers/room';
import { isInRange } from '../sdk/versions';
import { promptly, type Clock } from './clock';
import { stillWaiting } from './failure';
import { nameStep } from './step';
import type { OfferBoards } from './offerBoards';
import { OfferCircles } from './offerCircles';
import { AFTER_STAY_MS, OfferWatch } from './offerWatch';

/** A deploy with the offers of other pipelines that it needs, and those that it makes. */
export interface OfferAsk extends PlacedRelease {
  readonly pipeline: string;
  /** The name of the deploy as a user of offers: `auth/deploy`. */
  readonly user: string;
  readonly wishes: readonly Wish[];
  /** Null if its pipeline has never offered anything. */
  readonly plan: OfferPlan | null;
  /** It is another action than a deploy, which uses values without becoming a user. */
  readonly reads?: true;
  /** A person lets it begin although its own offers do not fit their users. */
  readonly override?: true;
}

export interface OfferRun extends OfferAsk {
  /** The last answer. */
  readonly seen: string | null;
  /** When the deploy began to wait; ms since the epoch. */
  readonly sinceMs: number;
  /** The longest time until it is asked again; ms. */
  readonly intervalMs: number;
}

interface LookParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly boards: OfferBoards;
  /** The number of looks that may stay at once (`OfferWatch`). */
  readonly stays: number;
}

/** A deploy that has waited for so long looks for a circle, again after each such time, and no longer than this; ms. */
const [CHASES_AFTER_MS, CHASES_EACH_MS, CHASE_MS] = [300_000, 600_000, 5_000];
/** Offers and their users may change between a look and the message after it, so both are tried at most this many times. */
const TRIES = 3;

/** Activities of a deploy that waits for offers, and takes them. */
export function createOfferLooks({ client, clock, boards, stays: places }: LookParts) {
  const circles = new OfferCircles(client, boards);
  /** The circle of deploys in which this one waits; null if there is none, and undefined if that is not known in time. */
  const chase = ({ pipeline, wishes, plan, user }: OfferAsk) =>
    promptly(clock, CHASE_MS, circles.find({ pipeline, action: parseUser(user)?.action ?? '', wishes, plan }));
  const watch = new OfferWatch({ clock, places, read: (pipelines) => boards.look(pipelines) });
  return {
    /**
     * Answers as soon as a deploy has all offers that it needs and may make its own, or the reason why it waits changes. Until then it fails and
     * gives the time of the next try, as `waitForRelease` does.
     */
    offerNews: async ({ seen, sinceMs, intervalMs, ...ask }: OfferRun): Promise<WishAnswer> => {
      const { info, cancellationSignal } = Context.current();
      const waitedMs = (await clock.now()) - sinceMs;
      const nextMs = untilNextLook(waitedMs, intervalMs, `${ask.user}/${ask.release} ${info.attempt}`);
      // An answer was given just now. If answers keep changing, each would be an event in the history.
      if (seen !== null && info.attempt === 1) throw stillWaiting(seen, nextMs);
      let chases = isChaseDue(waitedMs, nextMs);
      const look = async (): Promise<WishAnswer | undefined> => {
        const answer = await judgeNow(boards, ask);
        if (answer.kind === 'satisfied') return answer;
        const circle = chases ? await chase(ask) : undefined;
        chases = false;
        const reason =
          circle === undefined
            ? keepCircle(answer.reason, seen)
            : addCircle(answer.reason, circle, answer.unfit ? formatDeployAttempt(ask) : null);
        if (reason !== seen) return { ...answer, reason };
        Context.current().heartbeat({ message: reason });
        return undefined;
      };
      const stays = seen !== null && watch.enter(waitedMs);
      try {
        const news = await (stays ? watch.stay(listRelated(ask), cancellationSignal, look) : look());
        if (news !== undefined) return news;
      } finally {
        if (stays) watch.leave();
      }
      throw stillWaiting(seen ?? '', stays ? Math.min(AFTER_STAY_MS, nextMs) : nextMs);
    },

    /**
     * For a deploy that has its turn: announces the change of its own offers, so that no new user pins one that will not fit it, and pins the
     * offers that it uses. `waiting`: one of them is gone, or no longer fits.
     */
    takeOffers: async (ask: OfferAsk): Promise<WishAnswer> => {
      const step = nameStep();
      for (let tries = 1; ; tries += 1) {
        const answer = await judgeNow(boards, ask);
        if (answer.kind === 'waiting') return answer;
        const refusal = (await announceOwn(boards, ask, step)) ?? (await boards.pin(ask, answer.granted, step));
        if (refusal === null) return answer;
        if (tries >= TRIES) return { ...WAITING, reason: 'the offers keep changing', unmet: ask.wishes };
      }
    },

    /** Announces that an undeploy removes offers, so that no new user pins them while it waits for the present ones. */
    announceRemoval: async ({ pipeline, plan, ...by }: Pick<OfferAsk, 'pipeline' | 'plan' | 'release' | 'place'>) => {
      for (let refusal: OfferRefusal | null = 'changed'; plan && refusal !== null;) {
        const board = await boards.find(pipeline);
        const change = board && announceChange(board, plan, pickRelease(by));
        refusal = change ? await boards.change(pipeline, change, nameStep()) : null;
      }
    },
  };
}

/** At the first looks of each period. Attempts do not count: each new reason begins with the first again, and reasons may change for ever. */
const isChaseDue = (waitedMs: number, untilNextMs: number): boolean =>
  waitedMs >= CHASES_AFTER_MS && (waitedMs - CHASES_AFTER_MS) % CHASES_EACH_MS < 2 * untilNextMs;

const WAITING = { kind: 'waiting' } as const;

/** `net/2/deploy` */
const formatDeployAttempt = ({ pipeline, release, user }: OfferAsk): string =>
  deployId(pipeline, release, parseUser(user)?.action ?? '');

/** The pipelines whose offers or users decide how long a deploy waits. */
const listRelated = ({ pipeline, wishes, plan }: OfferAsk): string[] => [
  ...listOffering(wishes),
  ...(plan === null ? [] : [pipeline]),
];

/** Whether a deploy may begin with the offers of other pipelines, and its own, as they are now. */
async function judgeNow(boards: OfferBoards, ask: OfferAsk): Promise<WishAnswer> {
  const { pipeline, wishes, plan, override } = ask;
  const own = plan && (await boards.find(pipeline));
  const users = plan ? listUnfit(own, plan, isInRange) : [];
  const unfit = users.length > 0 ? { unfit: cutUnfit(users) } : {};
  const why = plan && !override ? whyUnfit(own, plan, isInRange, users) : undefined;
  if (why) return { ...WAITING, reason: why, unmet: [], ...unfit };
  const room =
    own && plan
      ? whyNoRoom(own, {
          ...pickRelease(ask),
          ...pickMade(plan),
          action: plan.action,
          declared: plan.made.map(({ name }) => name),
        })
      : undefined;
  if (room) return { ...WAITING, reason: room, unmet: [] };
  const looked = await boards.look(listOffering(wishes));
  const answer = judgeWishes(pipeline, wishes, looked, isInRange);
  if (answer.kind === 'waiting') return answer;
  const full = ask.reads ? undefined : await boards.findFull(ask, answer.granted, looked);
  const unmet = wishes.filter(({ from }) => from === full);
  return full === undefined ? { ...answer, ...unfit } : { ...WAITING, reason: formatFull(full), unmet };
}

/** Only a change that may not fit new users is announced. */
async function announceOwn(boards: OfferBoards, { pipeline, plan, override, ...by }: OfferAsk, step: string) {
  const board = plan && (await boards.find(pipeline));
  if (!plan || !board) return null;
  const change = planChange(board, plan, { ...pickRelease(by), ...(override ? { override } : {}) }, isInRange);
  return change === null || typeof change === 'string' ? change : boards.change(pipeline, change, step);
}
