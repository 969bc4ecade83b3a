import { demand, demandEqual, demandFields, demandRefusal, SkippedRuleError } from '../check';
import { pushTypeCheck, type PushTypeWorld } from './world';

const UPDATE_COMMANDS = ['pauseUpdates', 'resumeUpdates', 'cancelUpdates'] as const;

const sendUpdateCommand = (
  world: PushTypeWorld,
  method: (typeof UPDATE_COMMANDS)[number],
  updateId = world.update,
  units?: string[],
) => world.ask(method, { updateId, ...(units && { units }) }, `${updateId}/${method}`);

/** Sends a command to a running update. An update that ends anyway had finished before the command arrived; one that continues later ignored it. */
async function interruptAndSend(world: PushTypeWorld, method: (typeof UPDATE_COMMANDS)[number]): Promise<void> {
  await world.interrupt();
  await sendUpdateCommand(world, method);
  const now = await world.progress(world.update);
  if (now?.state === 'done') throw new SkippedRuleError('slow', 'all tasks were updated before the command came');
}

/** Commands of users to a running update. */
export const COMMAND_CHECKS = [
  pushTypeCheck(
    'pause starts no more tasks, those in flight finish, and resume continues to the end',
    {
      method: 'pauseUpdates',
      advice:
        'begin no task while paused, let those in flight come up, answer the state paused; resumeUpdates continues from there',
    },
    async (world) => {
      await world.push(world.update, world.everything());
      await interruptAndSend(world, 'pauseUpdates');
      await world.settle();
      const paused = await world.progress(world.update);
      demandFields(paused, { state: 'paused', live: paused?.updated }, 'the update that was paused');
      demand((paused?.live ?? 0) < world.size, `live is ${paused?.live}, expected fewer than all: it was paused`);
      await sendUpdateCommand(world, 'resumeUpdates');
      await world.settle();
      demandFields(await world.progress(world.update), { state: 'done', live: world.size }, 'the update, resumed');
    },
  ),
  pushTypeCheck(
    'one unit can be paused by itself',
    { method: 'pauseUpdates', advice: 'with `units`, pause or resume only these; the others of the update continue' },
    async (world) => {
      await world.push(world.update, world.everything());
      await sendUpdateCommand(world, 'pauseUpdates', world.update, [world.first]);
      await world.settle();
      const first = await world.progress(world.update);
      if (first?.state === 'done') throw new SkippedRuleError('slow', 'all tasks were updated before the pause came');
      demandFields(first, { state: 'paused' }, `${world.first}, which was paused`);
      const second = await world.progress(world.update, world.second);
      demandFields(second, { state: 'done', live: world.secondSize }, `${world.second}, which was not`);
    },
  ),
  pushTypeCheck(
    'cancel ends the update where it is; the unit is free for others',
    {
      method: 'cancelUpdates',
      advice: 'begin no more tasks, let those in flight come up, answer the state failed, and never begin again',
    },
    async (world) => {
      await world.push(world.update, world.everything());
      await interruptAndSend(world, 'cancelUpdates');
      await world.settle();
      demandFields(await world.progress(world.update), { state: 'failed' }, 'the update that was cancelled');
      const left = await world.outdated(world.fresh);
      demand((left ?? 0) > 0, `outdated is ${left}, expected some tasks that were not begun`);
      await sendUpdateCommand(world, 'resumeUpdates');
      await world.settle();
      demandEqual(await world.outdated(world.fresh), left, 'outdated after resumeUpdates of a cancelled update');
      demandEqual(await world.push(world.other), { accepted: [world.first] }, 'the answer to another deploy');
    },
  ),
  pushTypeCheck(
    'an update that was cancelled or has ended is still reported: what was in flight counts once it is live',
    {
      method: 'trackUpdates',
      advice:
        'answer the counts of now for every update that ever came, whatever its state; commands on one that has ended change nothing',
    },
    async (world) => {
      await world.push(world.update, world.everything());
      await interruptAndSend(world, 'cancelUpdates');
      await world.settle();
      const { targeted = 0, live } = (await world.progress(world.update)) ?? {};
      const left = (await world.outdated(world.fresh)) ?? 0;
      demandEqual(live, targeted - left, 'live of the cancelled update');
      const again = `${world.update}-again`;
      await world.push(again, world.everything());
      await world.settle();
      const ended = await world.progress(again);
      for (const method of ['pauseUpdates', 'resumeUpdates'] as const)
        demandEqual(await sendUpdateCommand(world, method, again), {}, `the answer of ${method} after the end`);
      demandEqual(await world.progress(again), ended, 'the update after these commands');
      demandFields(ended, { state: 'done', live: ended?.targeted }, 'the second update');
    },
  ),
  pushTypeCheck(
    'commands may be repeated and may concern an update that never arrived',
    {
      method: 'cancelUpdates',
      advice: 'answer {} to pauseUpdates, resumeUpdates and cancelUpdates of an update that you do not know',
    },
    async (world) => {
      for (const method of UPDATE_COMMANDS)
        for (const time of ['first', 'second'])
          demandEqual(await sendUpdateCommand(world, method), {}, `the ${time} answer of ${method}`);
    },
  ),
  pushTypeCheck(
    'an update that was cancelled before it arrived never begins',
    {
      method: 'cancelUpdates',
      advice: 'remember the update ids that were cancelled, and refuse executeUpdates of them for good',
    },
    async (world) => {
      await sendUpdateCommand(world, 'cancelUpdates');
      await demandRefusal(world.push(world.update), 'executeUpdates after its cancelUpdates');
      await world.settle();
      demandEqual(await world.outdated(world.version), 0, `outdated for ${world.version}`);
    },
  ),
];
