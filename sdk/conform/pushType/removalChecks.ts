import { demand, demandEqual, demandFields, demandRefusal, SkippedRuleError } from '../check';
import { pushTypeCheck, unlessOutdated, type PushTypeWorld } from './world';

const REMOVE_UNITS = 'removeUnits';

/** A check of a push type that can remove units; any other skips it. */
const removalCheck = (title: string, advice: string, story: (world: PushTypeWorld) => Promise<void>) =>
  pushTypeCheck(title, { method: REMOVE_UNITS, advice }, async (world) => {
    await world.requireRemoval();
    await story(world);
  });

/** Further obligations of a push type that removes units. */
export const REMOVAL_CHECKS = [
  removalCheck(
    'a removal stops all tasks of a unit, and leaves it without a version; other units stay as they are',
    'stop every task that the unit has, count it as gone once it no longer exists, and list the unit with size 0 and version null, or no longer',
    async (world) => {
      demandEqual(await world.remove(world.removal), { accepted: [world.first] }, 'the answer of removeUnits');
      await world.settle();
      const end = { state: 'done', targeted: world.size, gone: world.size, live: 0, failed: 0 };
      demandFields(await world.progress(world.removal), end, 'the removal');
      await demandRemoved(world);
      await demandUntouched(world, world.second, world.secondSize);
    },
  ),
  removalCheck(
    'a removal that names a unit that is not there is refused, and removes nothing',
    'all or nothing: check every unit before the first task is touched; a refused removal uses up neither its id nor its key',
    async (world) => {
      await demandRefusal(world.remove(world.removal, [world.first, 'no-such-unit']), 'a removal of an unknown unit');
      await world.settle();
      await demandUntouched(world);
      const answer = await world.remove(world.removal);
      demandEqual(answer, { accepted: [world.first] }, 'the answer to the same removal of the unit that is there');
    },
  ),
  removalCheck(
    'a removal that comes again gets the first answer, and removes nothing a second time',
    'remember the id of a removal like that of an update: a known one begins nothing, whatever the key, also once the unit is back',
    async (world) => {
      const first = await world.remove(world.removal);
      await world.settle();
      demandEqual(await world.remove(world.removal), first, 'the second answer to the same key');
      await updateBack(world);
      const again = await world.remove(world.removal, [world.first], `${world.removal}/another key`);
      demandEqual(again, first, 'the answer to the same removal under another key');
      await world.settle();
      demandFields(
        await world.unit(),
        { size: world.size, version: world.fresh },
        `unit ${world.first}, which is back`,
      );
    },
  ),
  removalCheck(
    'a unit that another deploy is updating is not removed before that has ended',
    'answer 409 while an update of another deploy is pending, updating or paused in the unit',
    async (world) => {
      await world.push(world.update);
      await demandRefusal(world.remove(world.otherRemoval), 'a removal of a unit that another deploy is updating');
      await world.settle();
      demandFields(await world.progress(world.update), { state: 'done', live: 2 }, 'the update of the other deploy');
      const answer = await world.remove(world.otherRemoval);
      demandEqual(answer, { accepted: [world.first] }, 'the answer once the other update has ended');
    },
  ),
  removalCheck(
    'an update brings a removed unit back, with as many tasks as it had',
    'keep what it takes to make the unit again; needsPush counts the tasks that an update of all would make',
    async (world) => {
      await world.remove(world.removal);
      await world.settle();
      await requireListed(world);
      const missing = await world.outdated(world.fresh);
      demand((missing ?? 0) > 0, `outdated for ${world.fresh} is ${missing}, expected the tasks that are to be made`);
      await updateBack(world);
      demandFields(await world.progress(world.other), { state: 'done', live: world.size }, 'the update');
      const whole = { size: world.size, version: world.fresh, mixed: false, available: true };
      demandFields(await world.unit(), whole, `unit ${world.first}, which is back`);
      demandEqual(await world.outdated(world.fresh), 0, `outdated for ${world.fresh}`);
      const end = { state: 'done', targeted: world.size, gone: world.size };
      demandFields(await world.progress(world.removal), end, 'the removal, once the unit is back');
    },
  ),
  removalCheck(
    'a unit that is removed may be removed again, and that is done at once',
    'accept a removal of a unit without tasks, and answer done for it: a later deploy may ask for it again',
    async (world) => {
      await world.remove(world.removal);
      await world.settle();
      await requireListed(world);
      const answer = await world.remove(world.otherRemoval);
      demandEqual(answer, { accepted: [world.first] }, 'the answer to a second removal');
      const end = { state: 'done', targeted: 0, gone: 0 };
      demandFields(await world.progress(world.otherRemoval), end, 'the second removal');
    },
  ),
  removalCheck(
    'a removal that was cancelled before it arrived never begins',
    'remember the ids that were cancelled, and refuse removeUnits of them for good',
    async (world) => {
      await world.ask('cancelUpdates', { updateId: world.removal }, `${world.removal}/cancel`);
      await demandRefusal(world.remove(world.removal), 'removeUnits after its cancelUpdates');
      await world.settle();
      await demandUntouched(world);
    },
  ),
  removalCheck(
    'a removal of a deploy that has lost the service is refused',
    'answer 409 to a removal with a lower context.fence than one that was seen',
    async (world) => {
      // Lower than the fence of any real lock; if the service has seen a real one, it refuses this call already.
      await world.push(world.update, {}, world.update, 2).catch(unlessOutdated);
      await world.settle();
      const stale = world.remove(world.otherRemoval, [world.first], world.otherRemoval, 1);
      await demandRefusal(stale, 'a removal with a lower fence than one that was seen');
      await world.settle();
      demandFields(await world.unit(), { size: world.size }, `unit ${world.first}`);
    },
  ),
  removalCheck(
    'a removal of no units changes nothing',
    'answer { accepted: [] } to removeUnits without units: Conveyor asks in this way whether the method is there',
    async (world) => {
      demandEqual(await world.remove(world.removal, []), { accepted: [] }, 'the answer to a removal of no units');
      await world.settle();
      await demandUntouched(world);
      await demandUntouched(world, world.second, world.secondSize);
    },
  ),
];

/** Demands the first unit to be without tasks, or no longer listed. */
async function demandRemoved(world: PushTypeWorld): Promise<void> {
  const unit = await world.unit();
  if (unit) demandFields(unit, { size: 0, version: null, mixed: false }, `unit ${world.first}, which was removed`);
}

const demandUntouched = async (world: PushTypeWorld, unit = world.first, size = world.size): Promise<void> =>
  demandFields(await world.unit(unit), { size, version: world.version }, `unit ${unit}, which was not removed`);

/** @throws Skipped if a removed unit cannot be made again */
async function requireListed(world: PushTypeWorld): Promise<void> {
  const unit = await world.unit();
  if (!unit) throw new SkippedRuleError(REMOVE_UNITS, 'it no longer lists a unit that was removed, as it may');
  demandFields(unit, { available: true }, `unit ${world.first}, which was removed`);
}

async function updateBack(world: PushTypeWorld): Promise<void> {
  await requireListed(world);
  // Of both units, as a deploy ends: some fleets have a single version in the end.
  const { accepted } = await world.push(world.other, { wholeUnit: true, ...world.everything() });
  demandEqual(
    accepted.toSorted(),
    [...world.subject.units].sort(),
    'the units of an update that a removed one is among',
  );
  await world.settle();
}
