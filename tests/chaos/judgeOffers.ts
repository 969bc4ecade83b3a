import { OfferBoards } from '../../activities/offerBoards';
import { NO_OFFERS, type OfferBoard } from '../../domain/offers/board';
import { isOfferWait } from '../../domain/offers/judge';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { pipelineSchema } from '../../domain/spec/pipeline';
import type { VirtualWorld } from '../workflows/world';
import { deployInputOf, isGranted, isUnfit, isUrgent, listUses, listWished, releaseInputOf } from './offerFacts';
import { openActions } from './offerWatch';
import { deployOf } from './play';
import { membersOf, type Offering, type Scenario } from './scenario';

const boardOf = async (world: VirtualWorld, pipeline: string): Promise<OfferBoard> =>
  (await new OfferBoards(world.stranger(), world.taskQueue).find(pipeline)) ?? NO_OFFERS;

/** Once nothing more happens, each deploy that waits for offers has a reason. */
export async function judgeWaiting(world: VirtualWorld, scenario: Scenario): Promise<void> {
  const wrong: string[] = [];
  for (const { pipeline } of membersOf(scenario)) {
    const { active } = await world.pipelineStatus(pipeline);
    for (const release of active) wrong.push(...(await findIdle(world, pipeline, release)));
  }
  expect(wrong).toEqual([]);
}

/** Deploys of a release that wait although everything is there. */
async function findIdle(world: VirtualWorld, pipeline: string, release: number): Promise<string[]> {
  const input = await releaseInputOf(world, pipeline, release);
  if (input === undefined) return [];
  const found: string[] = [];
  for (const { name, blockedBy } of await openActions(world, pipeline, release)) {
    if (blockedBy === null || !isOfferWait(blockedBy)) continue;
    const wishes = listWished(input.spec, name);
    const boards = await Promise.all(
      wishes.map(async (wish) => isGranted(pipeline, wish, await boardOf(world, wish.from))),
    );
    const isUnmet = boards.includes(false) || isUnfit(input.spec, name, await boardOf(world, pipeline));
    // The artifact of the finder is a change of the offer that is over.
    const isOld = / but this release brings /.test(blockedBy);
    if (!isUnmet && !isOld)
      found.push(`${pipeline}/${release}/${name} waits although everything is there: ${blockedBy}`);
  }
  return found;
}

/** After the last releases: the fleet, the deploys and the boards agree. */
export async function judgeOffers(world: VirtualWorld, scenario: Scenario, { last }: Offering): Promise<void> {
  const isTerminated = scenario.happenings.some(
    (it) => it.kind === 'temporal' && it.how === 'terminate' && it.of === 'release',
  );
  const wrong: string[] = [];
  for (const source of last) wrong.push(...(await judgeLast(world, source)));
  for (const source of last) wrong.push(...(await judgeBoard(world, source, last, isTerminated)));
  expect(wrong).toEqual([]);
}

/** The deploys of the last release of a pipeline began, and those that succeeded have the pins that they know of. */
async function judgeLast(world: VirtualWorld, source: PipelineSource): Promise<string[]> {
  const { pipeline } = source;
  const release = await lastReleaseOf(world, pipeline);
  const found: string[] = [];
  for (const action of deploysIn(source)) {
    const id = `${pipeline}/${release}/${action}`;
    const input = await deployInputOf(world, pipeline, release, action);
    const deploy = await deployOf(world, pipeline, release, action);
    if (input === undefined || deploy === null) {
      if (!(await isLeftOut(world, pipeline, release))) found.push(`${id} has not begun`);
      continue;
    }
    if (deploy.outcome !== 'succeeded' || (deploy.skipped ?? []).length > 0) continue;
    for (const { from, offer } of listWished(pipelineSchema.parse(source), action)) {
      const known = input.wishes?.find((one) => one.from === from && one.use.offer === offer)?.use.seq;
      const pins = listUses(await boardOf(world, from)).filter(
        (one) => one.user === `${pipeline}/${action}` && one.offer === offer,
      );
      const seqs = pins.map((pin) => `${pin.release}#${pin.seq}`);
      if (seqs.join() !== `${release}#${known}`)
        found.push(`${id} runs with ${offer}#${known} of ${from}, which knows ${seqs.join() || 'no use'}`);
    }
  }
  return found;
}

const deploysIn = ({ actions }: PipelineSource): string[] =>
  Object.keys(actions).filter((name) => actions[name]?.type === 'deploy');

async function lastReleaseOf(world: VirtualWorld, pipeline: string): Promise<number> {
  return (await world.pipelineStatus(pipeline)).lastRelease ?? 0;
}

/** It waited for an offer to the end, or an action before it has not succeeded. */
async function isLeftOut(world: VirtualWorld, pipeline: string, release: number): Promise<boolean> {
  const { actions, trigger } = await world.releaseStatus(pipeline, release);
  if (trigger.kind !== 'manual') return true;
  const wasCancelled = actions.some(({ message }) => message?.includes('tidying up'));
  return wasCancelled || actions.some(({ state, deploy }) => state === 'failed' && deploy !== null);
}

/** A board has the offers of the last file, and no use that is over. */
async function judgeBoard(
  world: VirtualWorld,
  { pipeline, offers = [], ...source }: PipelineSource,
  last: readonly PipelineSource[],
  isTerminated: boolean,
): Promise<string[]> {
  const board = await boardOf(world, pipeline);
  const release = await lastReleaseOf(world, pipeline);
  const found: string[] = [];
  for (const { name, after = 'deploy', version } of offers) {
    const deploy = await deployOf(world, pipeline, release, after);
    const made = board.offers.find((one) => one.name === name);
    if (deploy?.outcome !== 'succeeded' || made?.release === release) continue;
    found.push(`${name} ${version} of ${pipeline} is not offered by release ${release}: ${JSON.stringify(made)}`);
  }
  const open = board.changes.filter(({ action, release: by }) => action in source.actions && by < release);
  if (open.length > 0 && offers.length > 0 && (await areAllGood(world, pipeline, release, source)))
    found.push(`${pipeline} is still changing ${JSON.stringify(open)}`);
  for (const use of listUses(board)) {
    const [user = '', action = ''] = use.user.split('/');
    const file = last.find((one) => one.pipeline === user);
    const newest = await lastReleaseOf(world, user);
    const deploy = await deployOf(world, user, newest, action);
    const isWished = file && listWished(pipelineSchema.parse(file), action).some(({ from }) => from === pipeline);
    const isAll = deploy?.outcome === 'succeeded' && (deploy.skipped ?? []).length === 0;
    if (use.release >= newest || !isAll) continue;
    const by = await releaseInputOf(world, user, use.release);
    // Nothing takes back a pin of a release that was terminated, or of a rollback with an older file (docs/design/offers.md#ends).
    const isLeft = !isWished && (isTerminated || by === undefined || isUrgent(by));
    if (!isLeft)
      found.push(`${pipeline} counts ${use.user} as user of ${use.offer} for release ${use.release}, which is over`);
  }
  return found;
}

const areAllGood = async (
  world: VirtualWorld,
  pipeline: string,
  release: number,
  { actions }: Pick<PipelineSource, 'actions'>,
): Promise<boolean> => {
  const names = Object.keys(actions).filter((name) => actions[name]?.type === 'deploy');
  const deploys = await Promise.all(names.map((name) => deployOf(world, pipeline, release, name)));
  return deploys.every((deploy) => deploy?.outcome === 'succeeded');
};
