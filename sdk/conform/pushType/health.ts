import { demand, demandEqual } from '../check';
import { pushTypeCheck, type PushTypeWorld } from './world';
import { MINUTE_MS } from '../../../domain/milliseconds';

const NOBODY_MEASURES = 'conveyor.conform.nobody_measures_this';

/** Judges by an unknown metric. */
const judgeUnknownMetric = async (world: PushTypeWorld, scope: 'unit' | 'deploy') => {
  const check = { name: 'nothing', metric: NOBODY_MEASURES, threshold: { above: 1 }, scope, lookback: MINUTE_MS };
  const now = world.subject.now();
  const targets = { units: [...world.subject.units], updatedBy: [world.update] };
  const baseline = { start: now - 2 * MINUTE_MS, end: now - MINUTE_MS };
  return world.ask('runHealthChecks', { targets, checks: [check as never], baseline, now });
};

/** Verdicts rest on data, or do not pass. */
export const HEALTH_CHECKS = [
  pushTypeCheck(
    'health without data is answered, and is not healthy',
    {
      method: 'runHealthChecks',
      advice:
        'answer a row for each unit, with inconclusive or errored evidence for each check of a unit that was updated; never fail, and never pass without data',
    },
    async (world) => {
      await world.push(world.update, world.everything());
      await world.settle();
      const { units } = await judgeUnknownMetric(world, 'unit');
      demandEqual(units.map(({ id }) => id).sort(), [...world.subject.units].sort(), 'the units that are judged');
      for (const { id, checks } of units) {
        demandEqual(
          checks.map(({ name }) => name),
          ['nothing'],
          `the checks of ${id}`,
        );
        for (const { verdict } of checks)
          demand(!PASSED.has(verdict), `the verdict of ${id} is ${verdict}, without data`);
      }
      const { deploy } = await judgeUnknownMetric(world, 'deploy');
      demandEqual(
        deploy.checks.map(({ name }) => name),
        ['nothing'],
        'the checks of the deploy',
      );
      for (const { verdict } of deploy.checks) demand(!PASSED.has(verdict), `the verdict is ${verdict}, without data`);
    },
  ),
  pushTypeCheck(
    'where nothing was updated nothing is judged',
    {
      method: 'runHealthChecks',
      advice:
        'judge only tasks that an update of targets.updatedBy touched; all tasks of the units when updatedBy is empty',
    },
    async (world) => {
      const { units, deploy } = await judgeUnknownMetric(world, 'unit');
      demandEqual(
        units.flatMap(({ checks }) => checks),
        [],
        'the checks of units of which no task was updated',
      );
      demandEqual(deploy.checks, [], 'the checks of the deploy');
    },
  ),
];

const PASSED: ReadonlySet<string> = new Set(['healthy', 'unhealthy']);
