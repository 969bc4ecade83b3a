import {
  beginChange,
  declareOffers,
  isBoardEmpty,
  isOfferForUser,
  isUsedBy,
  makeOffers,
  pickRelease,
  pinOffers,
  refuseChange,
  type ChangeMessage,
  type MakeMessage,
  type OfferBoard,
  type OfferRefusal,
  type PinMessage,
  type PlacedRelease,
} from '../../../../domain/offers/board';
import {
  formatFull,
  grantAnyway,
  judgeWishes,
  listOffering,
  listPins,
  planChange,
  whyUnfit,
  type Boards,
  type GrantedOffer,
  type OfferPlan,
  type Wish,
  type WishAnswer,
} from '../../../../domain/offers/judge';
import { listDeclaredOffers, planRestored, type KnownOffers } from '../../../../domain/offers/ofPipeline';
import { refusePin } from '../../../../domain/offers/pinRefusal';
import { hideUsers, type OfferedBoard } from '../../../../domain/offers/readBoard';
import { findFormerName } from '../../../../domain/pipeline/specChange';
import type { PipelineSpec } from '../../../../domain/spec/pipeline';
import { sameJson } from '../../../../domain/json';
import type { Artifact } from '../../../../domain/artifact';
import { isInRange } from '../../../../sdk/versions';
import type { BoardHost } from './boards';
import { TryAgain, type Flow } from './tasks';
import type { World } from './world';

/** The sequence of activities/offers.ts and activities/offerBoards.ts, with a step of the scheduler for each message to Temporal. */

export interface Ask extends PlacedRelease {
  readonly pipeline: string;
  readonly user: string;
  readonly wishes: readonly Wish[];
  readonly plan: OfferPlan | null;
}

const TRIES = 3;
const AT = '2026-11-23T17:00:00.000Z';
const waiting = (reason: string, unmet: readonly Wish[]): WishAnswer => ({ kind: 'waiting', reason, unmet });

function* find(world: World, pipeline: string): Flow<OfferBoard | null> {
  const host = world.host(pipeline);
  yield () => host.silentUntil <= world.now;
  return host.board;
}

export function* judge(world: World, ask: Ask): Flow<WishAnswer> {
  const { pipeline, wishes, plan } = ask;
  const unfit = plan && whyUnfit(yield* find(world, pipeline), plan, isInRange);
  if (unfit) return waiting(unfit, []);
  const read = new Map<string, OfferedBoard | null>();
  for (const from of listOffering(wishes)) read.set(from, yield* look(world, from));
  const answer = judgeWishes(pipeline, wishes, read, isInRange);
  if (answer.kind === 'waiting') return answer;
  for (const { from, pin: asked } of listPins(ask, answer.granted)) {
    if (read.get(from)?.isRoomy) continue;
    const board = yield* find(world, from);
    if (board && refusePin(board, asked) === 'full') return waiting(formatFull(from), wishes);
  }
  return answer;
}

function* look(world: World, pipeline: string): Flow<OfferedBoard | null> {
  const board = yield* find(world, pipeline);
  return board && hideUsers(board);
}

export function* takeOffers(world: World, ask: Ask): Flow<WishAnswer> {
  for (let tries = 1; ; tries += 1) {
    const answer = yield* judge(world, ask);
    if (answer.kind === 'waiting') return answer;
    const refusal = (yield* announce(world, ask)) ?? (yield* pin(world, ask, answer.granted));
    if (refusal === null) return answer;
    if (tries >= TRIES) return waiting('the offers keep changing', ask.wishes);
  }
}

function* announce(world: World, { pipeline, plan, ...by }: Ask): Flow<OfferRefusal | null> {
  const board = plan && (yield* find(world, pipeline));
  if (plan) world.watch.announces(pipeline, `${pipeline}/${by.release}/${plan.action}`);
  if (!plan || !board) return null;
  const change = planChange(board, plan, pickRelease(by), isInRange);
  if (change === null || typeof change === 'string') return change;
  return yield* update(
    world,
    pipeline,
    `change ${pipeline}/${by.release}/${change.action}`,
    (now) => refuseChange(now, change),
    (now) => beginChange(now, change satisfies ChangeMessage),
  );
}

export function* pin(
  world: World,
  by: Omit<PinMessage, 'uses'>,
  granted: readonly GrantedOffer[],
): Flow<OfferRefusal | null> {
  const { user, anyway } = by;
  for (const { from, pin: message } of listPins(by, granted)) {
    const refusal = yield* update(
      world,
      from,
      `pin${anyway ? ' anyway' : ''} ${user} ${by.release}`,
      (now) => refusePin(now, message),
      (now) => pinOffers(now, message),
    );
    if (refusal !== null && !anyway) return refusal;
  }
  return null;
}

/** As `pinAnyway` of activities/offerBoards.ts. @returns the offers that it reports, as `p0/o1` */
export function* pinLate(
  world: World,
  by: Omit<PinMessage, 'uses'>,
  granted: readonly GrantedOffer[],
): Flow<ReadonlySet<string>> {
  const reported = new Set<string>();
  yield* pin(world, by, granted);
  for (const { from, use } of granted) {
    const board = yield* find(world, from);
    const made = board?.offers.find(({ name }) => name === use.offer);
    const isKnown = board && made && (isOfferForUser(made, by.user) || isUsedBy(board, use.offer, by.user));
    const isFull = board && refusePin(board, { ...by, uses: [use] }) === 'full';
    if (!isKnown || isFull) reported.add(`${from}/${use.offer}`);
  }
  return reported;
}

function* update(
  world: World,
  pipeline: string,
  cause: string,
  refuse: Parameters<BoardHost['update']>[1],
  change: Parameters<BoardHost['update']>[2],
): Flow<OfferRefusal | null> {
  const host = world.host(pipeline);
  yield undefined;
  if (!host.isRunning) {
    const board = yield* find(world, pipeline);
    if (board === null || isBoardEmpty(board)) return 'changed';
    host.start(board);
  }
  yield undefined;
  const answer = host.update(cause, refuse, change);
  if (answer === 'gone') throw new TryAgain();
  return answer;
}

/** To the workflow if it runs, else by an activity that starts it with its last state. */
export function* send(world: World, pipeline: string, cause: string, change: (board: OfferBoard) => OfferBoard): Flow {
  const host = world.host(pipeline);
  yield undefined;
  if (host.isRunning) return host.send(cause, change);
  yield* signal(world, pipeline, cause, change);
}

function* signal(world: World, pipeline: string, cause: string, change: (board: OfferBoard) => OfferBoard): Flow {
  const host = world.host(pipeline);
  if (yield* isOpen(host)) return tell(host, cause, change);
  const board = yield* find(world, pipeline);
  if (board && !isBoardEmpty(board)) host.signalWithStart(board, cause, change);
}

function* isOpen(host: BoardHost): Flow<boolean> {
  yield undefined;
  const { isRunning } = host;
  yield undefined;
  return isRunning;
}

/** It may have ended since it was found open. */
function tell(host: BoardHost, cause: string, change: (board: OfferBoard) => OfferBoard): void {
  if (!host.isRunning) throw new TryAgain();
  host.send(cause, change);
}

export function* makeDeclared(world: World, pipeline: string, message: Omit<MakeMessage, 'declared'>): Flow {
  const declared = yield* declarePresent(world, pipeline);
  const host = world.host(pipeline);
  const cause = `make ${pipeline}/${message.release}/${message.action}`;
  const make = (now: OfferBoard) => makeOffers(now, { ...message, declared }, AT);
  if (yield* isOpen(host)) tell(host, cause, make);
  else host.signalWithStart(yield* find(world, pipeline), cause, make);
  yield* declarePresent(world, pipeline, declared);
}

export function* declarePresent(world: World, pipeline: string, sent?: readonly string[]): Flow<readonly string[]> {
  for (let last = sent; ;) {
    yield undefined;
    const known = world.pipe(pipeline).state;
    const declared = known === null ? [] : listDeclaredOffers(known);
    if (last && sameJson(last, declared)) return declared;
    const offered = yield* look(world, pipeline);
    if (offered && !sameJson(offered.declared, declared))
      yield* signal(world, pipeline, `declare ${declared.join(' ')}`, (now) => declareOffers(now, declared));
    last = declared;
  }
}

export function* makeRestored(
  world: World,
  pipeline: string,
  { of, artifacts, ...by }: PlacedRelease & { action: string; artifacts: readonly Artifact[]; of: number | null },
): Flow {
  const input = of === null ? undefined : world.runs.get(`${pipeline}/${of}`)?.input;
  const present = world.runs.get(`${pipeline}/${by.release}`)?.input.spec;
  const name = input && present ? findNameThen(input.spec, present, by.action) : by.action;
  const restored = input ? planRestored(input.spec, name, artifacts) : { made: [], elsewhere: [] };
  const formerly = name === by.action ? {} : { formerly: name };
  yield* makeDeclared(world, pipeline, { ...by, ...restored, ...formerly });
}

const findNameThen = (then: PipelineSpec, now: PipelineSpec, action: string): string =>
  then.actions[action]?.type === 'deploy' ? action : findFormerName(then.actions, now.actions, action);

export interface KnownAsk {
  readonly pipeline: string;
  readonly wishes: readonly Wish[];
  readonly pushType: string;
  readonly before: readonly { readonly release: number; readonly action: string }[];
  /** The file of the release that asks. */
  readonly by: PipelineSpec;
  readonly needsPresent: boolean;
  readonly isPrompt: boolean;
}

export function* readOffers(
  world: World,
  { pipeline, wishes, needsPresent, isPrompt, ...ask }: KnownAsk,
): Flow<KnownOffers> {
  yield undefined;
  const earlier = findEarlier(world, pipeline, ask);
  if (earlier && !needsPresent) return { earlier, present: [] };
  const read: [string, OfferBoard | null][] = [];
  for (const from of listOffering(wishes)) {
    const isSilent = isPrompt && world.host(from).silentUntil > world.now;
    read.push([from, isSilent ? null : yield* find(world, from)]);
  }
  const boards: Boards = new Map(read);
  world.facts.read.set(pipeline, boards);
  return { earlier, present: grantAnyway(pipeline, wishes, boards) };
}

const ATTEMPTS = [5, 4, 3, 2, 1];

function findEarlier(
  world: World,
  pipeline: string,
  { before, pushType, by }: Pick<KnownAsk, 'before' | 'pushType' | 'by'>,
): KnownOffers['earlier'] {
  for (const { release, action } of before) {
    const findAs = (name: string) =>
      ATTEMPTS.map((attempt) => world.deploys.get(`${pipeline}/${release}/${name}/${attempt}`)).find(
        (one) => one !== undefined,
      );
    const then = world.runs.get(`${pipeline}/${release}`)?.input.spec;
    const found = findAs(action) ?? (then && findAs(findNameThen(then, by, action)));
    if (found?.spec.pushType === pushType) return { ...found.spec, granted: found.granted };
  }
  return null;
}
