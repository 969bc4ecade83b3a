import { demand, demandEqual, demandFields, demandRefusal } from '../check';
import { pushTypeCheck, type UpdateInput } from './world';

const strange = (rest: object): Partial<UpdateInput> => ({
  targets: [{ version: 'any', artifacts: [], ...rest }] as never,
});

const REFUSED_UPDATES: readonly (readonly [string, Partial<UpdateInput>])[] = [
  ['an unknown unit', strange({ unit: 'no-such-unit', amount: { all: true } })],
  ['an amount of 101%', strange({ unit: 'any', amount: { percent: 101 } })],
  ['targets that are no list', { targets: 'all' as never }],
];

/** The calls before any update. */
export const LOOK_CHECKS = [
  pushTypeCheck(
    'a config that names its units has no problems, and one that names none has',
    {
      method: 'validateConfig',
      advice: 'answer every mistake in context.config as { path, message }, and [] when there is none',
    },
    async (world) => {
      demandEqual((await world.ask('validateConfig', {})).problems, [], 'problems of the config that was given');
      const { problems } = await world.ask('validateConfig', {}, undefined, { config: {} });
      demand(problems.length > 0, 'problems of the config {} is [], expected at least one');
    },
  ),
  pushTypeCheck(
    'the units are those of the config, with size and version',
    {
      method: 'fetchDeployUnits',
      advice:
        'answer exactly the units that context.config names, each with the version that a task starts on which is added now',
    },
    async (world) => {
      const { units, service } = await world.ask('fetchDeployUnits', {});
      demand(service !== '', 'service is empty, expected the stable name of what is deployed');
      demandEqual(units.map(({ id }) => id).sort(), [...world.subject.units].sort(), 'the ids of the units');
      for (const unit of units) {
        const size = unit.id === world.first ? world.size : world.secondSize;
        demandFields(unit, { size, version: world.version, mixed: false, available: true }, `unit ${unit.id}`);
      }
    },
  ),
  pushTypeCheck(
    'a unit on the version needs no push, another needs all its tasks',
    { method: 'needsPush', advice: 'count the tasks that are not up on the version of the target' },
    async (world) => {
      demandEqual(await world.outdated(world.version), 0, `outdated for ${world.version}, which the unit runs`);
      demandEqual(await world.outdated(world.fresh), world.size, `outdated for ${world.fresh}, which no task runs`);
    },
  ),
  pushTypeCheck(
    'looking changes nothing',
    {
      method: 'needsPush',
      advice: 'start nothing in validateConfig, fetchDeployUnits and needsPush: they are called at any time',
    },
    async (world) => {
      await world.ask('validateConfig', {});
      await world.outdated(world.fresh);
      await world.settle();
      demandEqual(await world.outdated(world.version), 0, `outdated for ${world.version} afterwards`);
    },
  ),
  ...REFUSED_UPDATES.map(([what, change]) =>
    pushTypeCheck(
      `${what} is refused for good and nothing happens`,
      {
        method: 'executeUpdates',
        advice:
          'check the whole request before anything begins, and answer 400 or 404 with { error: { code, message, retryable: false } }',
      },
      async (world) => {
        await demandRefusal(world.push(world.update, change), `executeUpdates with ${what}`);
        await world.settle();
        demandEqual(await world.outdated(world.version), 0, `outdated for ${world.version} afterwards`);
      },
    ),
  ),
  pushTypeCheck(
    'a call that changes something is refused without a key',
    { method: 'executeUpdates', advice: 'answer 400 when the header Idempotency-Key is missing' },
    async (world) => {
      const request = { updateId: world.update, wholeUnit: false, urgency: 'normal' as const, targets: [] };
      await demandRefusal(world.ask('executeUpdates', request), 'executeUpdates without Idempotency-Key');
    },
  ),
  pushTypeCheck(
    'a body that is not JSON is a 400, and an unknown method a 404',
    {
      method: 'trackUpdates',
      advice:
        'answer 400 for what cannot be read and 404 for a path that is not a method; a 5xx would be tried again for ever',
    },
    async (world) => {
      demandEqual(await world.talk.post('trackUpdates', '{'), 400, 'the status for the body {');
      demandEqual(await world.talk.post('noSuchMethod', '{}'), 404, 'the status for the method noSuchMethod');
    },
  ),
];
