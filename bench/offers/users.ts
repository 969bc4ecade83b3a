import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { OfferBoards } from '../../activities/offerBoards';
import { workflowIds } from '../../domain/ids';
import { NO_OFFERS, pinOffers, type OfferBoard, type Use } from '../../domain/offers/board';
import type { GrantedOffer } from '../../domain/offers/judge';
import { countBytes } from '../../domain/offers/packedBoard';
import { OFFER_LIMITS } from '../../domain/limits';
import { plural } from '../../domain/text';
import { median } from '../actions';
import { eventMs, spread } from '../reverts';
import type { Bench } from '../services';
import { each, p50p99, print, seconds } from '../stack';
import {
  addDeploy,
  applyDeploy,
  countWaiting,
  formatShares,
  measureSpent,
  OFFER,
  placeOffer,
  releaseToEnd,
  releaseToWait,
  type PrintRow,
  type Spent,
} from './pipelines';

/**
 * Many users of one offer. Their pins are real messages to the workflow of the offers, sent from here, since as many releases would not fit one
 * machine. The deploys that wait for another version of the offer are real.
 */
const NET = 'net';
const SAMPLES = 50;
/** Temporal takes ten updates of a workflow at a time. */
const AT_ONCE = 8;
const LOOKS_MS = 60_000;
const POLL_MS = 2_000;

/** @param waiting the number of deploys that wait for another version */
export async function measureUsers(bench: Bench, counts: readonly number[], waiting: number): Promise<void> {
  const boards = new OfferBoards(bench.temporal, bench.ready.taskQueue);
  await addDeploy(bench, NET, { bake: '0s', offers: [placeOffer()] });
  await releaseToEnd(bench, NET);
  const names = Array.from({ length: waiting }, (_, nth) => `waits-${nth + 1}`);
  const wishes = [{ from: NET, offer: OFFER, version: '^2' }];
  await each(names, 20, (name) => applyDeploy(bench, name, { bake: '0s', wishes }));
  const idle = waiting === 0 ? undefined : await measureSpent(bench, () => delay(LOOKS_MS));
  await releaseToWait(bench, names);
  let alone: Times | undefined;
  for (const [nth, count] of [1, ...counts].entries()) {
    print(await fill(boards, count));
    const times = await timeMessages(boards, nth);
    print(listTimes(count, times, alone));
    alone ??= times;
    if (idle === undefined) continue;
    print(await measureLooks(bench, names, count, idle));
    print(await measureChange(bench, boards, names, nth + 1));
  }
}

const findBoard = async (boards: OfferBoards): Promise<OfferBoard> => (await boards.find(NET)) ?? NO_OFFERS;

/** As the activity of a deploy pins. */
async function pin(boards: OfferBoards, { offers }: OfferBoard, user: string, release: number): Promise<void> {
  const use: Use = { offer: OFFER, seq: offers[0]?.seq ?? 0, version: '^1', paths: ['region'] };
  const granted: GrantedOffer = { from: NET, use, version: '1.0.0', parts: {} };
  const refusal = await boards.pin({ user, release }, [granted], randomUUID());
  if (refusal !== null) throw new Error(`the pin of ${user} was refused: ${refusal}`);
}

const nameUser = (nth: number): string => `user-${nth}/deploy`;

/** Adds users up to this number. */
async function fill(boards: OfferBoards, count: number): Promise<PrintRow[]> {
  const board = await findBoard(boards);
  const known = board.users.length;
  const added = Array.from({ length: count - known }, (_, nth) => nameUser(known + nth + 1));
  const from = Date.now();
  await each(added, AT_ONCE, (user) => pin(boards, board, user, 1));
  const rate = (added.length * 1_000) / (Date.now() - from);
  const full = await findBoard(boards);
  const use = full.users[0]?.pins[0]?.uses[0];
  // Both versions of each run.
  const all = full.users.reduce(
    (next, { user }) => pinOffers(next, { user, release: 2, uses: use ? [use] : [] }),
    full,
  );
  const format = (bytes: number): string =>
    `${bytes} bytes, ${((100 * bytes) / OFFER_LIMITS.board.max).toFixed(1)}% of the limit`;
  return [
    [`state of an offer with ${plural(full.users.length, 'user')}`, format(countBytes(full))],
    ['… while all of them deploy, computed', format(countBytes(all))],
    ...(added.length > AT_ONCE ? [[`pins a second, ${AT_ONCE} at once`, rate.toFixed(0)] as const] : []),
  ];
}

interface Times {
  readonly pins: readonly number[];
  readonly queries: readonly number[];
}

/** Deploys of one user, one after the other. */
async function timeMessages(boards: OfferBoards, part: number): Promise<Times> {
  const board = await findBoard(boards);
  const user = nameUser(1);
  const samples = Array.from({ length: SAMPLES }, (_, nth) => nth);
  const queries = await each(samples, 1, () => measureMs(() => boards.find(NET)));
  const pins = await each(samples, 1, async (nth) => {
    const release = 2 + part * SAMPLES + nth;
    const took = await measureMs(() => pin(boards, board, user, release));
    await boards.signal(NET, 'unpin-offers', { user, release, runs: 'everywhere' });
    return took;
  });
  return { pins, queries };
}

async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function listTimes(count: number, { pins, queries }: Times, alone: Times | undefined): PrintRow[] {
  const format = (times: readonly number[], before: readonly number[] | undefined): string =>
    `${p50p99(times)}${before ? ` (p50: ${(median(times) / median(before)).toFixed(1)} times that with 1 user)` : ''}`;
  return [
    [`a pin with ${plural(count, 'user')}: p50, p99`, format(pins, alone?.pins)],
    ['… a query: p50, p99', format(queries, alone?.queries)],
  ];
}

/** While nothing changes. @param idle before any deploy waited */
async function measureLooks(bench: Bench, names: readonly string[], count: number, idle: Spent): Promise<PrintRow[]> {
  const before = await countWaiting(bench, names);
  const spent = await measureSpent(bench, () => delay(LOOKS_MS));
  const after = await countWaiting(bench, names);
  const looks = after.looks - before.looks;
  const format = (ms: number, idleMs: number) => ((ms - (idleMs * spent.wallMs) / idle.wallMs) / looks).toFixed(1);
  const perLook = `${format(spent.workerMs, idle.workerMs)} ms, ${format(spent.temporalMs, idle.temporalMs)} ms`;
  return [
    [
      `share of a core while ${names.length} deploys wait, ${plural(count, 'user')}`,
      `${formatShares(spent)}, ${looks} looks`,
    ],
    ['… before they waited', formatShares(idle)],
    ['… more than that for a look, worker and Temporal', perLook],
    ['events while they wait', String(after.events - before.events)],
  ];
}

/** The offer gets another version, for which the deploys do not wait either. Each shows that in its status. */
async function measureChange(
  bench: Bench,
  boards: OfferBoards,
  names: readonly string[],
  minor: number,
): Promise<PrintRow[]> {
  const offer = { ...placeOffer(`1.${minor}.0`), value: placeOffer().value ?? {}, to: ['*'] };
  const before = await each(names, 20, (name) => countWaiting(bench, [name]));
  const known = names.map((name, nth) => ({ name, events: before[nth]?.events ?? 0 }));
  const spent = await measureSpent(bench, async () => {
    await boards.make(NET, { release: 1, action: 'deploy', made: [offer], declared: [OFFER] });
    for (let left = known; left.length > 0; left = await listUnaware(bench, left)) await delay(POLL_MS);
  });
  const changedAt = Date.parse((await findBoard(boards)).offers[0]?.since ?? '');
  const noticedAt = await each(known, 8, ({ name, events }) => findNotice(bench, name, events));
  return [
    [`until all ${names.length} have noticed a change: p50, max`, spread(noticedAt.map((at) => at - changedAt))],
    ['… share of a core meanwhile', `${formatShares(spent)}, for ${seconds(spent.wallMs)}`],
  ];
}

interface Known {
  readonly name: string;
  /** The events of its release before the change. */
  readonly events: number;
}

async function listUnaware(bench: Bench, known: readonly Known[]): Promise<Known[]> {
  const found = await each(known, 20, ({ name }) => countWaiting(bench, [name]));
  return known.filter(({ events }, nth) => (found[nth]?.events ?? 0) <= events);
}

/** The end of the look that found the change, by the server's clock. */
async function findNotice({ temporal }: Bench, name: string, known: number): Promise<number> {
  const { events } = await temporal.workflow.getHandle(workflowIds.release(name, 1)).fetchHistory();
  const end = events?.find(
    ({ eventId, activityTaskCompletedEventAttributes }) =>
      activityTaskCompletedEventAttributes && Number(eventId) > known,
  );
  return eventMs(end?.eventTime);
}
