import { readFileSync } from 'node:fs';
import { planDeploy, countPlannedTasks } from '../../../domain/deploy/plan';
import { inScope } from '../../../domain/fleet/scope';
import type { Unit } from '../../../domain/fleet/unit';
import { parsePipeline } from '../../../domain/spec/parse';
import { parseRegistry } from '../../../settings/registry';
import { parse } from 'yaml';
import {
  exampleFleet,
  examplePath,
  examplePipelines,
  IN_VIRTUAL_TIME,
  TOGETHER,
  type ExampleJob,
} from '../../setup/examples';

const read = (file: string) => parsePipeline(readFileSync(examplePath(file), 'utf8'));
const registry = parseRegistry(parse(readFileSync(examplePath('../conveyor.config.yaml'), 'utf8')), {});

const toUnit = ({ name, region, tasks, version }: ExampleJob): Unit => ({
  ...{ id: name, labels: { region }, size: tasks, version, mixed: false, available: true },
});

describe.each(examplePipelines())('examples/%s', (file) => {
  const { spec, problems } = read(file);
  const actions = Object.entries(spec?.actions ?? {});
  const fleet = exampleFleet(file);

  test('lints without an error', () => expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]));

  test('has checks that lint does not doubt', () => {
    const doubts = problems.filter(({ path }) => path.includes('healthChecks')).map(({ code }) => code);
    expect(doubts).toEqual([]);
  });

  test('deploys jobs of one service, which are in the fleet beside it, beginning with few of them', () => {
    for (const [, action] of actions) {
      if (action.type !== 'deploy' || action.with.pushType !== 'twine') continue;
      const jobs = (action.with.config['jobs'] as string[]).map((job) => fleet.find(({ name }) => name === job)!);
      expect(jobs.every((job) => job !== undefined)).toBe(true);
      expect(new Set(jobs.map(({ service }) => service)).size).toBe(1);
      const units = jobs.map(toUnit);
      const plan = planDeploy(action.with, units, [], 'new:1');
      expect(plan.phases.at(-1)?.kind).toBe('completion');
      const all = units.reduce((sum, { size }) => sum + size, 0);
      const first = plan.phases[0]!;
      const begun = units.filter((unit) => inScope(first.scope, unit));
      expect(begun.reduce((sum, unit) => sum + countPlannedTasks(first, unit), 0)).toBeLessThanOrEqual(all / 2);
    }
  });

  test('names services that the configuration of this checkout has', () => {
    const services = actions.flatMap(([, action]) =>
      action.type === 'custom'
        ? [action.with.service]
        : ['build', 'pkg', 'integr-test', 'perf-test'].includes(action.type)
          ? [action.type]
          : [],
    );
    for (const service of services) expect(registry.find('action-service', service).url).toContain(service);
  });
});

test('examples that only run in virtual time are in tests/workflows, and all others in tests/system', () => {
  expect(examplePipelines()).toEqual(expect.arrayContaining(IN_VIRTUAL_TIME));
  const tests = ['examples.long', 'healthExamples.long', 'storage.long', 'configErrors.long'].map((name) =>
    examplePath(`../tests/workflows/${name}.test.ts`),
  );
  const virtual = tests.map((file) => readFileSync(file, 'utf8')).join();
  expect(IN_VIRTUAL_TIME.filter((file) => !virtual.includes(`'${file}'`))).toEqual([]);
  expect(examplePipelines()).toEqual(expect.arrayContaining(TOGETHER));
});
