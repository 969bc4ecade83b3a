import { summarizeExperience, experienceWords } from '../../../domain/stats/experience';
import { statsReport } from '../../../domain/stats/report';
import { NO_TALLIES, talliesOf } from '../../builders/statsTallies';

const report = (tallies = talliesOf('ml')) =>
  statsReport(tallies, {
    sinceMs: Date.parse('2026-09-01T00:00Z'),
    untilMs: Date.parse('2026-11-25T00:00Z'),
    readUntilMs: null,
  });

test('the deploys of a category teach how long they take, and how often their checks are wrong or late', () => {
  const progress = [3, 5, 9].map((tenth) => ({ category: 'ml', tenth, count: 2 }));
  const experience = summarizeExperience(report({ ...talliesOf('ml'), progress }), 'ml');
  expect(experience).toMatchObject({
    ...{ category: 'ml', since: '2026-09-01T00:00:00.000Z', times: { count: 4, p50Ms: 600_000, p99Ms: 7_200_000 } },
    ...{ stoppedGood: { count: 1, of: 2 }, missedBad: { count: 0, of: 2 }, late: { count: 4, of: 6 } },
  });
  expect(experienceWords(experience)).toEqual([
    '4 deploys succeeded, half of them within 10m, 99% within 2h',
    'people let 1 of 2 deploys continue in spite of a check',
    'people took back 0 of 2 releases that had succeeded',
    '4 of 6 failed deploys had updated half of their tasks before',
  ]);
});

test('nothing is said of a category of which nothing ended', () => {
  expect(experienceWords(summarizeExperience(report(), 'web'))).toEqual([]);
  expect(summarizeExperience(report(NO_TALLIES), 'ml')).toMatchObject({ times: null, late: { count: 0, of: 0 } });
});
