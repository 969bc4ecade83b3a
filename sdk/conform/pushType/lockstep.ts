import { demand, demandEqual, demandFields, demandRefusal } from '../check';
import { pushTypeCheck, type TargetInput } from './world';

/** Further obligations of a push type that shifts traffic. */
export const LOCKSTEP_CHECKS = [
  pushTypeCheck(
    'traffic is shifted to a version before any task runs it, and to what is asked for again nothing happens',
    {
      method: 'shiftTraffic',
      advice:
        'take any percent for a known unit, also twice and before a task runs the version; refuse unknown units; start no task',
    },
    async (world) => {
      await world.requireTraffic();
      for (const nth of ['first', 'again']) await world.shift(0, world.subject.units, `traffic ${nth}`);
      await demandRefusal(world.shift(5, ['no-such-unit'], 'traffic 5'), 'traffic of a unit that is not there');
      await world.settle();
      demandEqual(await world.outdated(world.fresh), world.size, `outdated for ${world.fresh}`);
    },
  ),
  pushTypeCheck(
    'a push type that shifts traffic states how many tasks of a unit may be unavailable, or leaves it out',
    { method: 'needsPush', advice: 'answer a budget between 1 and the size of the unit, or leave it out' },
    async (world) => {
      const targets = [world.target(world.fresh, { amount: { all: true } })];
      const { budget = 1 } = (await world.ask('needsPush', { targets })).units[0] ?? {};
      demand(budget > 0 && budget <= world.size, `budget is ${budget}, expected 1 to ${world.size}`);
    },
  ),
  pushTypeCheck(
    'a revert with an amount takes no more tasks than that, and one without takes the rest',
    {
      method: 'executeUpdates',
      advice: 'with updatedBy, an amount is the most tasks to take back, those on their way counted',
    },
    async (world) => {
      await world.requireTraffic();
      await world.push(world.update, { targets: [world.target(world.fresh, { amount: { count: 5 } })] });
      await world.settle();
      const back = (rest: Partial<TargetInput>) => ({
        urgency: 'revert' as const,
        targets: [world.target(world.version, { updatedBy: [world.update], ...rest })],
      });
      await world.push(world.revert, back({ amount: { count: 2 } }));
      await world.settle();
      demandFields(await world.progress(world.revert), { state: 'done', targeted: 2, live: 2 }, 'the first revert');
      demandEqual(await world.outdated(world.version), 3, `outdated for ${world.version}`);
      await world.push(world.revertAgain, back({}));
      await world.settle();
      demandFields(await world.progress(world.revertAgain), { state: 'done', targeted: 3 }, 'the second revert');
      demandEqual(await world.outdated(world.version), 0, `outdated for ${world.version}`);
    },
  ),
  pushTypeCheck(
    'a revert with an amount begins with the tasks that are down',
    {
      method: 'executeUpdates',
      advice: 'take the tasks that are down back first: they serve no traffic',
    },
    async (world) => {
      await world.requireTraffic();
      const { dead } = world;
      await world.push(world.update, { targets: [world.target(dead, { amount: { count: 1 } })] });
      await world.settle();
      await world.push(world.next, { targets: [world.target(world.fresh, { amount: { count: 3 } })] });
      await world.settle();
      const back = { updatedBy: [world.update, world.next], amount: { count: 1 } };
      await world.push(world.revert, { urgency: 'revert', targets: [world.target(world.version, back)] });
      await world.settle();
      demandEqual(await world.outdated(dead), world.size, `outdated for ${dead}, which no task should run any more`);
    },
  ),
];
