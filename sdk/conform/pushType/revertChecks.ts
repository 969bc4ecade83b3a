import { demandEqual, demandFields, demandRefusal } from '../check';
import { pushTypeCheck, EXECUTE_UPDATES } from './world';

/** Checks that revert updates. */
export const REVERT_CHECKS = [
  pushTypeCheck(
    'a revert touches only the tasks of the updates that it names',
    {
      method: EXECUTE_UPDATES,
      advice: 'with updatedBy, take exactly the tasks that one of these updates touched last',
    },
    async (world) => {
      const { newer } = world;
      await world.push(world.older, { targets: [world.target(newer, { amount: { count: 1 } })] });
      await world.settle();
      const rest = world.target(world.fresh, { amount: { count: 2 }, exclude: [world.older] });
      await world.push(world.update, { targets: [rest] });
      await world.settle();
      await world.push(world.revert, world.undo([world.update]));
      await world.settle();
      demandFields(await world.progress(world.revert), { state: 'done', targeted: 2, live: 2 }, 'the revert');
      demandEqual(await world.outdated(world.version), 1, `outdated for ${world.version}`);
      demandEqual(await world.outdated(newer), world.size - 1, `outdated for ${newer}`);
    },
  ),
  pushTypeCheck(
    'what a revert has still to take back counts as outdated, and nothing of it afterwards',
    { method: 'needsPush', advice: 'with updatedBy, count the tasks that one of these updates touched, and no others' },
    async (world) => {
      const left = () => world.outdated(world.version, world.first, { updatedBy: [world.update] });
      await world.push(world.older, { targets: [world.target(world.newer, { amount: { count: 1 } })] });
      await world.settle();
      const rest = world.target(world.fresh, { amount: { count: 2 }, exclude: [world.older] });
      await world.push(world.update, { targets: [rest] });
      await world.settle();
      demandEqual(await left(), 2, `outdated for ${world.version} by what ${world.update} touched`);
      await world.push(world.revert, world.undo([world.update]));
      await world.settle();
      demandEqual(await left(), 0, `outdated for ${world.version} after the revert`);
    },
  ),
  pushTypeCheck(
    'a revert of a whole-unit update resets the unit and what inherited its version',
    {
      method: EXECUTE_UPDATES,
      advice:
        'when updatedBy names the update that set the version of the unit, set it back first, with the tasks that were added since',
    },
    async (world) => {
      await world.push(world.update, { wholeUnit: true, ...world.all(world.fresh) });
      await world.settle();
      await world.grow();
      await world.settle();
      await world.push(world.revert, world.undo([world.update]));
      await world.grow();
      await world.settle();
      const before = { version: world.version, mixed: false, size: world.size + 2 };
      demandFields(await world.unit(), before, `unit ${world.first}`);
    },
  ),
  pushTypeCheck(
    'a revert in the middle of an update ends it and undoes all that it touched',
    {
      method: EXECUTE_UPDATES,
      advice:
        'a later update of the same deploy ends the earlier one where it is, which answers failed from then on; tasks in flight are taken back too',
    },
    async (world) => {
      await world.push(world.update, world.all(world.fresh));
      await world.interrupt();
      await world.push(world.revert, world.undo([world.update]));
      await world.settle();
      demandEqual(await world.outdated(world.version), 0, `outdated for ${world.version}`);
      demandFields(await world.progress(world.update), { state: 'failed' }, 'the update that was reverted');
      demandFields(await world.progress(world.revert), { state: 'done' }, 'the revert');
    },
  ),
  pushTypeCheck(
    'tasks that are down are restarted by the revert',
    {
      method: EXECUTE_UPDATES,
      advice: 'take back also the tasks that never came up; they count as live once they run on the old version',
    },
    async (world) => {
      await world.push(world.update, world.all(world.dead));
      await world.settle();
      await world.push(world.revert, world.undo([world.update]));
      await world.settle();
      const end = await world.progress(world.revert);
      demandFields(end, { state: 'done', failed: 0, live: end?.targeted }, 'the revert');
      demandEqual(await world.outdated(world.version), 0, `outdated for ${world.version}`);
    },
  ),
  pushTypeCheck(
    'a second try finds what a failed revert left behind',
    {
      method: EXECUTE_UPDATES,
      advice: 'tasks that a revert took over still belong to the updates that it undoes, until they are up again',
    },
    async (world) => {
      const { dead } = world;
      await world.push(world.update);
      await world.settle();
      await world.push(world.revert, world.undo([world.update], dead));
      await world.settle();
      demandFields(await world.progress(world.revert), { state: 'failed' }, `the revert to ${dead}`);
      await world.push(world.revertAgain, world.undo([world.update]));
      await world.settle();
      demandFields(await world.progress(world.revertAgain), { state: 'done' }, 'the second try');
      demandEqual(await world.outdated(world.version), 0, `outdated for ${world.version}`);
    },
  ),
  pushTypeCheck(
    'a revert that names a unit that is not there is refused, and begins nothing',
    { method: EXECUTE_UPDATES, advice: 'all or nothing: check every target before the first task is touched' },
    async (world) => {
      await world.push(world.update);
      await world.settle();
      const back = (unit: string) => world.target(world.version, { unit, updatedBy: [world.update] });
      const request = { urgency: 'revert' as const, targets: [back(world.first), back('no-such-unit')] };
      await demandRefusal(world.push(world.revert, request), 'a revert of a unit that is not there');
      await world.settle();
      demandEqual(await world.outdated(world.fresh), world.size - 2, `outdated for ${world.fresh}`);
      await world.push(`${world.revert}.part`, { urgency: 'revert', targets: [back(world.first)] });
      await world.settle();
      demandEqual(await world.outdated(world.version), 0, `outdated for ${world.version} after the revert of the rest`);
    },
  ),
];
