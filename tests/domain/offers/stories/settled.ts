import { isBoardEmpty, parseUser, type OfferBoard, type OfferChange } from '../../../../domain/offers/board';
import { findDeployOffers, listDeclaredOffers } from '../../../../domain/offers/ofPipeline';
import { hasActionEnded } from '../../../../domain/release/nextActions';
import { doesFit, isSame, isSatisfied, listUses, listWished, must } from './oracle';
import type { Run } from './releases';
import type { World } from './world';

/** The invariants once nothing more happens, and no message is on its way. */
export function checkSettled(world: World): void {
  for (const { name, board } of world.listHosts())
    if (board && !isBoardEmpty(board) && !world.facts.undeclared.has(name)) checkBoard(world, name, board);
  for (const [key, made] of world.facts.made) {
    const [name = '', offer = ''] = key.split('/');
    if (world.facts.undeclared.has(name) || !world.facts.isKept(key, made)) continue;
    const isThere = world.host(name).board?.offers.some((one) => one.name === offer);
    must(4, isThere === true, () => `${made.by} has made ${key}, which is not offered`);
  }
  for (const run of world.runs.values()) if (!run.isTerminated && !run.hasReported) checkWaiting(world, run);
}

function checkBoard(world: World, name: string, board: OfferBoard): void {
  const state = world.pipes.get(name)?.state;
  const declared = state ? listDeclaredOffers(state) : [];
  for (const { name: offer, withdrawing, notMadeBy, version, value } of board.offers) {
    const isDeclared = declared.includes(offer);
    must(5, isDeclared !== (withdrawing === true), () =>
      isDeclared ? `${name} withdraws ${offer}, which its file has` : `${name} offers ${offer}, which its file lacks`,
    );
    const isUsed = listUses(board).some((one) => one.offer === offer);
    must(2, withdrawing === undefined || isUsed, () => `${offer} of ${name} is never withdrawn`);
    const made = world.facts.made.get(`${name}/${offer}`);
    if (withdrawing || made === undefined) continue;
    const is = JSON.stringify([version, value]);
    must(
      4,
      isSame([made.version, made.value], [version, value]),
      () => `${name} offers ${offer} as ${is}, not as ${made.by} made it`,
    );
    const dropped = world.facts.dropped.get(`${name}/${offer}`);
    must(7, (notMadeBy !== undefined) === (dropped !== undefined), () =>
      dropped ? `${name} offers ${offer}, which ${dropped.by} does not make` : `${made.by} makes ${offer} of ${name}`,
    );
  }
  for (const change of board.changes) checkChange(world, name, change);
  checkPins(world, name, board);
}

/** The pins of a user whose last deploy has left one version everywhere belong to that. */
function checkPins(world: World, name: string, board: OfferBoard): void {
  for (const { user, release, offer, seq } of listUses(board)) {
    const { pipeline = '', action = '' } = parseUser(user) ?? {};
    // It was renamed.
    if (world.pipes.get(pipeline)?.state?.spec.actions[action] === undefined) continue;
    if (!world.facts.isClean(user) || world.facts.isLeft(name, user, release)) continue;
    const isRun = world
      .listRunning()
      .some(
        (one) =>
          one.user === user &&
          one.release === release &&
          one.granted.some(({ from, use }) => from === name && use.offer === offer && use.seq === seq),
      );
    must(5, isRun, () => `${user} has a pin of ${offer} of ${name} for release ${release}, which does not run with it`);
  }
}

/** A deploy that was stopped halfway, or terminated, still counts as changing its offers. */
function checkChange(world: World, name: string, { release, action }: OfferChange): void {
  const run = world.runs.get(`${name}/${release}`);
  const deploys = [...world.deploys.values()].filter((one) => one.run === run && one.action === action);
  const isStopped = deploys.some(({ state, result }) => state === 'terminated' || result?.leaves !== undefined);
  const isLeft = run?.isTerminated === true || isStopped || world.facts.lostChanges.has(`${name}/${release}`);
  must(4, isLeft, () => `${name} counts as changing an offer with release ${release}, whose deploy is over`);
}

/** A release waits for its wishes, or for the users of its offers, and for nothing else. */
function checkWaiting(world: World, run: Run): void {
  const { spec } = run.input;
  for (const [action, { state, blockedBy }] of Object.entries(run.record.actions)) {
    if (hasActionEnded(state) || state === 'waiting') continue;
    const isUnmet = listWished(spec, action).some(
      (wish) => !isSatisfied(spec.pipeline, wish, world.host(wish.from).board),
    );
    const isWaiting = isUnmet || isUnfit(run, action, world.host(spec.pipeline).board);
    must(4, isWaiting, () => `${run.id}/${action} waits (${blockedBy ?? state}) although everything is there`);
  }
}

function isUnfit({ input }: Run, action: string, board: OfferBoard | null): boolean {
  const { plan } = findDeployOffers(input, action, input.artifacts);
  if (plan === null || board === null) return false;
  return listUses(board).some((use) => {
    const before = board.offers.find(({ name }) => name === use.offer);
    const after = plan.made.find(({ name }) => name === use.offer);
    if (after) return !doesFit(use, after);
    const isOwn = before?.action === action && before.notMadeBy === undefined;
    return isOwn && !plan.elsewhere.includes(use.offer);
  });
}
