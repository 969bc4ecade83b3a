import { MINUTE_MS } from '../../domain/milliseconds';
import type { RequestInput } from '../protocol/common';
import { healthServiceProtocol } from '../protocol/healthService';
import { demand, demandEqual, demandRefusal, type ConformCheck } from './check';
import type { Conversation, Reachable } from './conversation';

/** A Health Check Service under test, with a metric that has samples. */
export interface HealthServiceSubject extends Reachable {
  readonly metric: string;
  /** Identifiers of two tasks, as the fleet writes them on the metric. */
  readonly tasks: readonly [string, string];
  /** ms since the epoch: both tasks have samples just before. */
  readonly now: number;
  /** The data source for checks that name none. */
  readonly source?: string | undefined;
}

type Evaluation = RequestInput<(typeof healthServiceProtocol)['evaluate']>;

const NOBODY_MEASURES = 'conveyor.conform.nobody_measures_this';
const PASSED: ReadonlySet<string> = new Set(['healthy', 'unhealthy']);

/** The tools of the cases of the suite. */
class Evaluations {
  constructor(
    private readonly subject: HealthServiceSubject,
    private readonly talk: Conversation,
  ) {}

  evaluate(fields: object = {}, more: Partial<Evaluation> = {}) {
    const { metric, tasks, now, source } = this.subject;
    const [first, second] = tasks.map((task, nth) => ({ id: `unit-${nth}`, fresh: [task], control: [], before: [] }));
    const check = { name: 'conform', metric, threshold: { above: Number.MAX_VALUE }, lookback: 5 * MINUTE_MS };
    const request = {
      targets: [first, second],
      checks: [{ ...check, ...fields }],
      baseline: { start: now - 20 * MINUTE_MS, end: now - 10 * MINUTE_MS },
      ...{ now, ...(source === undefined ? {} : { source }) },
      ...more,
    } as Evaluation;
    const context = { pipeline: 'conform', release: 0, deployId: 'conform', actor: 'user:alice', config: {} };
    return this.talk.ask({ protocol: healthServiceProtocol, method: 'evaluate', request, context });
  }
}

const healthServiceCheck = (
  title: string,
  advice: string,
  story: (evaluations: Evaluations) => Promise<void>,
): ConformCheck<HealthServiceSubject> => ({
  ...{ title, method: 'evaluate', advice },
  run: (subject, talk) => story(new Evaluations(subject, talk)),
});

/** The obligations of every Health Check Service. */
export const HEALTH_SERVICE_CHECKS: readonly ConformCheck<HealthServiceSubject>[] = [
  healthServiceCheck(
    'a check of units is answered once for each unit, by samples that tasks of it have given',
    'answer a row for each target, under its id, with evidence for each check of a unit; samples counts points, tasks the tasks that had some',
    async (evaluations) => {
      const { units, deploy } = await evaluations.evaluate();
      const judged = units.map(({ id, checks }) => [id, ...checks.map(({ name, verdict }) => `${name}: ${verdict}`)]);
      const expected = ['unit-0', 'unit-1'].map((id) => [id, 'conform: healthy']);
      demandEqual(judged.sort(), expected, 'the units and their verdicts');
      for (const { id, checks } of units)
        for (const { samples, tasks } of checks)
          demand(
            samples > 0 && tasks === 1,
            `${id} is judged by ${samples} samples of ${tasks} tasks, expected one task`,
          );
      demandEqual(deploy.checks, [], 'the checks of the deploy');
    },
  ),
  healthServiceCheck(
    'a check of the deploy is answered once, about the tasks of all units',
    'judge the tasks of all targets as one group where the scope of a check is deploy, and answer it under deploy',
    async (evaluations) => {
      const { units, deploy } = await evaluations.evaluate({ scope: 'deploy' });
      demandEqual(
        units.flatMap(({ checks }) => checks),
        [],
        'the checks of units',
      );
      demandEqual(
        deploy.checks.map(({ name, verdict, tasks }) => [name, verdict, tasks]),
        [['conform', 'healthy', 2]],
        'the checks of the deploy',
      );
    },
  ),
  healthServiceCheck(
    'health without data is answered, and is neither healthy nor unhealthy',
    'answer inconclusive or errored evidence where there are no samples; never fail, and never pass without data',
    async (evaluations) => {
      const { units } = await evaluations.evaluate({ metric: NOBODY_MEASURES });
      for (const { id, checks } of units) {
        demandEqual(checks.length, 1, `the number of checks of ${id}`);
        for (const { verdict } of checks)
          demand(!PASSED.has(verdict), `the verdict of ${id} is ${verdict}, without data`);
      }
    },
  ),
  healthServiceCheck(
    'a unit of which no task was updated is not judged',
    'a target without fresh tasks, of which updated is 0 or missing, has no checks',
    async (evaluations) => {
      const none = { id: 'unit-0', fresh: [], control: [], before: [] };
      const { units } = await evaluations.evaluate({}, { targets: [none] });
      demandEqual(units, [{ id: 'unit-0', checks: [] }], 'the units');
    },
  ),
  healthServiceCheck(
    'what is no question is refused',
    'answer 400 for a request that lacks a field, or has two checks of one name',
    async (evaluations) => {
      await demandRefusal(evaluations.evaluate({}, { targets: undefined as never }), 'evaluate without targets');
    },
  ),
];
