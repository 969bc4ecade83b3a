import { demand, demandEqual, demandFields, demandRefusal, inspectValue } from '../check';
import { pushTypeCheck, unlessOutdated, EXECUTE_UPDATES } from './world';

/** Forward updates. */
export const UPDATE_CHECKS = [
  pushTypeCheck(
    'a partial update brings exactly its tasks to the version',
    {
      method: EXECUTE_UPDATES,
      advice:
        'with amount { count: n }, bring the unit to n tasks on the version and leave the others and all other units alone',
    },
    async (world) => {
      demandEqual(await world.push(world.update), { accepted: [world.first] }, 'the answer of executeUpdates');
      await world.settle();
      const end = { state: 'done', targeted: 2, updated: 2, live: 2, failed: 0 };
      demandFields(await world.progress(world.update), end, `${world.first} in trackUpdates`);
      demandEqual(await world.outdated(world.fresh), world.size - 2, `outdated of ${world.first} for ${world.fresh}`);
      const untouched = await world.outdated(world.fresh, world.second);
      demandEqual(untouched, world.secondSize, `outdated of ${world.second}, which was not asked for`);
    },
  ),
  pushTypeCheck(
    'amounts are cumulative: tasks on the version count toward the next one',
    {
      method: EXECUTE_UPDATES,
      advice:
        'an amount is how many tasks are on the version in the end, not how many are added: count those that are already there',
    },
    async (world) => {
      await world.push(world.update);
      await world.settle();
      await world.push(world.next, { targets: [world.target(world.fresh, { amount: { count: 5 } })] });
      await world.settle();
      demandFields(await world.progress(world.next), { state: 'done', targeted: 3, live: 3 }, 'the second update');
      demandEqual(await world.outdated(world.fresh), world.size - 5, `outdated for ${world.fresh}`);
    },
  ),
  pushTypeCheck(
    'a whole-unit update leaves no task behind, and tasks added later start on its version',
    {
      method: EXECUTE_UPDATES,
      advice: 'with wholeUnit: true, set the version of the unit itself, on which tasks start that are added later',
    },
    async (world) => {
      await world.push(world.update);
      await world.settle();
      await world.push(world.next, { wholeUnit: true, ...world.all(world.fresh) });
      await world.settle();
      await world.grow();
      await world.settle();
      demandEqual(await world.outdated(world.fresh), 0, `outdated for ${world.fresh} after a task was added`);
      const whole = { version: world.fresh, mixed: false, size: world.size + 1 };
      demandFields(await world.unit(), whole, `unit ${world.first}`);
      demandFields(await world.unit(world.second), { version: world.version }, `unit ${world.second}`);
    },
  ),
  pushTypeCheck(
    'a task added after a partial update starts on the version of the unit',
    {
      method: EXECUTE_UPDATES,
      advice: 'without wholeUnit, leave the version of the unit as it is: only the tasks that were chosen have another',
    },
    async (world) => {
      await world.push(world.update);
      await world.settle();
      await world.grow();
      await world.settle();
      demandEqual(await world.outdated(world.fresh), world.size - 1, `outdated for ${world.fresh} (a task was added)`);
    },
  ),
  pushTypeCheck(
    'tasks of excluded updates are not touched',
    { method: EXECUTE_UPDATES, advice: 'never choose a task that an update of `exclude` touched last' },
    async (world) => {
      const { newer } = world;
      await world.push(world.update);
      await world.settle();
      await world.push(world.next, world.all(newer, { exclude: [world.update] }));
      await world.settle();
      demandEqual(await world.outdated(newer), 2, `outdated for ${newer}`);
      demandEqual(await world.outdated(world.fresh), world.size - 2, `outdated for ${world.fresh}`);
    },
  ),
  pushTypeCheck(
    'an update that excludes an unfinished one runs beside it, and takes none of its tasks',
    { method: EXECUTE_UPDATES, advice: 'an unfinished update that the request excludes does not make its unit busy' },
    async (world) => {
      const { newer } = world;
      await world.push(world.update);
      const beside = world.target(newer, { amount: { count: 3 }, exclude: [world.update] });
      const answer = await world.push(world.other, { targets: [beside] });
      demandEqual(answer, { accepted: [world.first] }, 'the answer for an update beside an unfinished one');
      await world.settle();
      demandFields(await world.progress(world.update), { state: 'done', live: 2 }, 'the excluded update');
      demandFields(await world.progress(world.other), { state: 'done', live: 3 }, 'the update that excludes it');
      demandEqual(await world.outdated(world.fresh), world.size - 2, `outdated for ${world.fresh}`);
      demandEqual(await world.outdated(newer), world.size - 3, `outdated for ${newer}`);
    },
  ),
  pushTypeCheck(
    'tasks of excluded updates do not count toward an amount, also when they are on the version',
    { method: EXECUTE_UPDATES, advice: 'count toward an amount only tasks that no update of `exclude` touched last' },
    async (world) => {
      await world.push(world.update);
      await world.settle();
      const more = world.target(world.fresh, { amount: { count: 2 }, exclude: [world.update] });
      await world.push(world.other, { targets: [more] });
      await world.settle();
      demandEqual(await world.outdated(world.fresh), world.size - 4, `outdated for ${world.fresh}`);
    },
  ),
  pushTypeCheck(
    'an update is undone beside an unfinished one that excludes it',
    {
      method: EXECUTE_UPDATES,
      advice: 'a revert of an update is not held up by an unfinished update of another deploy that excludes it',
    },
    async (world) => {
      await world.push(world.update);
      await world.settle();
      await world.push(world.other, world.all(world.newer, { exclude: [world.update] }));
      await world.subject.tick(world.other);
      await world.push(world.revert, world.undo([world.update]));
      await world.settle();
      const end = { state: 'done', live: world.size - 2 };
      demandFields(await world.progress(world.other), end, 'the update that excludes it');
      demandEqual(await world.outdated(world.version), world.size - 2, `outdated for ${world.version}`);
    },
  ),
  pushTypeCheck(
    'an update is undone beside an unfinished one that the revert excludes',
    {
      method: EXECUTE_UPDATES,
      advice: 'a revert with `exclude` is not held up by the unfinished updates that it names',
    },
    async (world) => {
      await world.push(world.update);
      await world.settle();
      const beside = world.target(world.newer, { amount: { count: 3 }, exclude: [world.update] });
      await world.push(world.other, { targets: [beside] });
      await world.subject.tick(world.other);
      const back = world.target(world.version, { updatedBy: [world.update], exclude: [world.other] });
      await world.push(world.revert, { urgency: 'revert', targets: [back] });
      await world.settle();
      demandFields(await world.progress(world.other), { state: 'done', live: 3 }, 'the update that is excluded');
      demandFields(await world.progress(world.revert), { state: 'done', live: 2 }, 'the revert that excludes it');
    },
  ),
  pushTypeCheck(
    'a replay of a key gets the same answer, and nothing happens twice',
    {
      method: EXECUTE_UPDATES,
      advice:
        'remember keys and update ids with their answers, in one piece with the effect; a known update id begins nothing, whatever the key',
    },
    async (world) => {
      const first = await world.push(world.update);
      await world.settle();
      demandEqual(await world.push(world.update), first, 'the second answer to the same key');
      const again = await world.push(world.update, {}, `${world.update}/another key`);
      demandEqual(again, first, 'the answer to the same update under another key');
      await world.settle();
      demandFields(await world.progress(world.update), { targeted: 2, live: 2 }, 'the update');
      demandEqual(await world.outdated(world.fresh), world.size - 2, `outdated for ${world.fresh}`);
    },
  ),
  pushTypeCheck(
    'a key cannot be used for something else',
    {
      method: EXECUTE_UPDATES,
      advice: 'keep what a key was used for, and answer 409 when it comes with another request',
    },
    async (world) => {
      await world.push(world.update);
      await demandRefusal(world.push(world.next, {}, world.update), 'another request under the same key');
    },
  ),
  pushTypeCheck(
    'tasks that do not come up stop the update of their unit, with a reason',
    {
      method: 'trackUpdates',
      advice:
        'when a task does not come up, answer failed for its unit with a reason that names the version, and start no other task of it',
    },
    async (world) => {
      const { dead } = world;
      await world.push(world.update, world.all(dead));
      await world.settle();
      const end = await world.progress(world.update);
      demandFields(end, { state: 'failed', live: 0 }, `${world.first} on ${dead}`);
      const failed = end?.failed ?? 0;
      demand(failed > 0 && failed < world.size, `failed is ${failed} of ${world.size}, expected some, not all`);
      demand(
        end?.reason?.includes(dead) ?? false,
        `reason is ${inspectValue(end?.reason)}, expected it to name ${dead}`,
      );
    },
  ),
  pushTypeCheck(
    'a unit with an unfinished update of another deploy is refused, and free when that ended',
    {
      method: EXECUTE_UPDATES,
      advice:
        'answer 409 while an update of another deploy is pending, updating or paused in the unit; the deploy is the update id without its last two parts; what is refused uses up neither key nor update id',
    },
    async (world) => {
      await world.push(world.update);
      await demandRefusal(world.push(world.other), 'an update of a unit that another deploy is updating');
      await world.settle();
      const answer = await world.push(world.other);
      demandEqual(answer, { accepted: [world.first] }, 'the answer once the other update has ended');
    },
  ),
  pushTypeCheck(
    'a forward update of a deploy that has lost the service is refused, and what it did can be reverted',
    {
      method: EXECUTE_UPDATES,
      advice:
        'remember the highest context.fence of each service, and answer 409 to a forward update with a lower one; a revert, and an update without one, is not refused for that',
    },
    async (world) => {
      // Lower than the fence of any real lock; if the service has seen a real one, it refuses this call already.
      await world.push(world.update, {}, world.update, 2).catch(unlessOutdated);
      await world.settle();
      const stale = world.push(world.other, {}, world.other, 1);
      await demandRefusal(stale, 'a forward update with a lower fence than one that was seen');
      const accepted = { accepted: [world.first] };
      const undo = world.undo([world.update]);
      const back = await world.push(world.revert, undo, world.revert, 1);
      demandEqual(back, accepted, 'the answer to a revert with a lower fence');
      await world.settle();
      demandEqual(await world.push(world.other), accepted, 'the answer to the update without a fence');
    },
  ),
  pushTypeCheck(
    'an unknown update cannot be followed',
    {
      method: 'trackUpdates',
      advice: 'answer 404 for an update id that never came: no units would mean that there is nothing to do',
    },
    async (world) => {
      await demandRefusal(world.progress(`${world.update}/nobody`), 'trackUpdates of an unknown update');
    },
  ),
];
