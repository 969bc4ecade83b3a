import { demandEqual, demandFields, demandRefusal } from '../check';
import { pushTypeCheck, type PushTypeWorld } from './world';

/** A push type that returns all units at once skips these checks. */
const inPages = (
  title: string,
  advice: string,
  method: 'fetchDeployUnits' | 'executeUpdates',
  story: (world: PushTypeWorld) => Promise<void>,
) =>
  pushTypeCheck(title, { method, advice }, async (world) => {
    await world.requirePages();
    await story(world);
  });

const two = (world: PushTypeWorld, unit: string) => ({
  targets: [world.target(world.fresh, { unit, amount: { count: 2 } })],
});

/** The promises of a push type that answers `next`. */
export const PAGE_CHECKS = [
  inPages(
    'its units come page by page, each once, and the last page says so',
    'answer at most `limit` units, `next` as the cursor of the page after it, and next: null with the last',
    'fetchDeployUnits',
    async (world) => {
      const page = await world.ask('fetchDeployUnits', { limit: 1 });
      demandEqual(page.units.length, 1, 'the number of units on a page of 1');
      const rest = await world.ask('fetchDeployUnits', { limit: 1, cursor: page.next ?? '' });
      const ids = [...page.units, ...rest.units].map(({ id }) => id).sort();
      demandEqual(ids, [...world.subject.units].sort(), 'the units of both pages');
      demandEqual(rest.next, null, 'next of the last page');
    },
  ),
  inPages(
    'one update comes in several requests, and each unit begins once',
    'the same update id may come again with other units, under another key: begin those that are new, and answer for all that were asked for',
    'executeUpdates',
    async (world) => {
      const part = (unit: string, nth: string) => world.push(world.update, two(world, unit), `${world.update}/${nth}`);
      await part(world.first, 'first');
      demandEqual((await part(world.second, 'second')).accepted, [world.second], 'accepted of the second request');
      await part(world.first, 'again');
      await world.settle();
      for (const unit of world.subject.units)
        demandFields(await world.progress(world.update, unit), { live: 2 }, `${unit} in trackUpdates`);
      const { units } = await world.ask('trackUpdates', { updateId: world.update, units: [world.second] });
      demandEqual(
        units.map(({ id }) => id),
        [world.second],
        `trackUpdates of ${world.second} alone`,
      );
    },
  ),
  inPages(
    'nothing of an update begins that comes after it was cancelled',
    'cancelUpdates holds for the whole update: refuse what still comes of it',
    'executeUpdates',
    async (world) => {
      await world.push(world.update, two(world, world.first), `${world.update}/first`);
      await world.ask('cancelUpdates', { updateId: world.update }, `${world.update}/cancel`);
      const late = world.push(world.update, two(world, world.second), `${world.update}/second`);
      await demandRefusal(late, 'a further part of a cancelled update');
      await world.settle();
      demandEqual(await world.outdated(world.fresh, world.second), world.secondSize, `outdated of ${world.second}`);
    },
  ),
  inPages(
    'what holds for all targets is said once',
    'a field that a target leaves out is that of `common`; what a target says itself goes before that',
    'executeUpdates',
    async (world) => {
      const common = { version: world.fresh, artifacts: [], amount: { count: 2 } };
      await world.push(world.update, { targets: world.subject.units.map((unit) => ({ unit })), common });
      await world.settle();
      demandFields(await world.progress(world.update), { state: 'done', live: 2 }, `${world.first} in trackUpdates`);
      const { units } = await world.ask('needsPush', { targets: [{ unit: world.first }], common });
      demandEqual(units[0]?.outdated, 0, 'outdated for the amount of `common`, which is reached');
    },
  ),
];
