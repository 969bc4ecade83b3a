import { classifyCadence } from '../../domain/calendar/cadence';
import { pipelineSchema } from '../../domain/spec/pipeline';
import { CATEGORIES, MEAN_ACTIONS, SCHEDULES } from './paper';
import { planned, populationOf } from './population';

const MANY = { seed: 1, pipelines: 400, weeks: 1 };
const people = populationOf(MANY);

test('the same seed draws the same pipelines and commits, another seed others', () => {
  const few = (seed: number) => JSON.stringify(populationOf({ seed, pipelines: 8, weeks: 1 }));
  expect(few(1)).toBe(few(1));
  expect(few(1)).not.toBe(few(2));
});

describe.each(CATEGORIES)('a population of %s pipelines', (category) => {
  const own = people.filter((one) => one.category === category);

  test('is a quarter of all, and has schedules in the shares of the paper', () => {
    expect(own).toHaveLength(100);
    const total = Object.values(SCHEDULES[category]).reduce((sum, share) => sum + share, 0);
    for (const [cadence, share] of Object.entries(SCHEDULES[category])) {
      const found = own.filter(({ source }) => classifyCadence(pipelineSchema.parse(source)) === cadence).length;
      expect(Math.abs(found - (100 * share) / total)).toBeLessThan(1);
    }
  });

  test('has about as many actions as the paper counts', () => {
    const counts = own.map(({ source }) => Object.keys(source.actions).length);
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    expect(Math.abs(mean - MEAN_ACTIONS[category])).toBeLessThan(0.3);
  });

  test('deploys in the pattern that was drawn for each', () => {
    expect(own.map(planned)).toEqual(own.map(({ pattern }) => pattern));
  });

  test('has commits on workdays only, in order', () => {
    for (const { commits } of own) {
      const times = commits.map(({ atMs }) => atMs);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(times.filter((atMs) => atMs < 0 || atMs >= 5 * 86_400_000)).toEqual([]);
    }
  });
});
