import { describeCheck } from '../../../domain/health/describe';
import { healthCheckInFile } from '../../../domain/spec/health';
import { examplePath } from '../../setup/examples';
import { run } from '../../builders/cliWorld';

type Source = Parameters<typeof healthCheckInFile.parse>[0];

const DEPLOY = { healthInterval: 60_000, onUnhealthy: 'revert' as const };
const ready = (name: string, fields: object = {}) => ({ uses: `standard/${name}`, ...fields });

describe('a check in words is whole, whatever was left to defaults or to a ready one', () => {
  test.each<[Source, string]>([
    [{ name: 'plain', metric: 'm', threshold: { below: 9 }, reduce: 'min' }, 'min of m below 9, over 1m: revert'],
    [{ name: 'both', metric: 'm', threshold: { above: 9, below: 2 } }, 'mean of m above 9 or below 2, over 1m: revert'],
    [
      ready('rpc-errors', { for: { evaluations: 3 }, reporting: '99%' }),
      'mean of rpc.error_ratio (average of 3m) above 0.05, over 3m, of 3 samples or more, 99% of the tasks reporting, 3 times in a row: revert',
    ],
    [
      ready('rpc-latency', { onUnhealthy: 'ignore', for: '5m' }),
      'p90 of rpc.latency (p99 of 5m) more than 15% above the tasks not yet updated, over 5m, of 5 samples or more, for 5m: only report',
    ],
    [
      ready('crashes'),
      'mean of system.crashes (gaps filled with zero, sum) above 0.1, over 5m, of all units together, of 1 sample or more: revert',
    ],
    [
      ready('engagement', { method: 'mann-whitney' }),
      'mean of app.engagement more than 5% below what it was before the deploy, over 5m, of 5 samples or more, 98% sure by ranks: pause',
    ],
    [
      { name: 'abs', metric: 'm', compare: { version: 'kv:9' }, threshold: { increase: 20 }, transform: ['rate'] },
      'mean of m (rate) more than 20 above the tasks on kv:9, over 1m: revert',
    ],
  ])('%j', (source, words) => {
    expect(describeCheck(healthCheckInFile.parse(source), DEPLOY)).toBe(words);
  });
});

test('plan says what would be unhealthy, ready checks in full, on as many lines as it takes', async () => {
  const { code, out } = await run(['plan', examplePath('frontend/pipeline.yaml'), '--update-time', '25m'], {
    env: { CONVEYOR_SIMULATOR_URL: 'http://127.0.0.1:9' },
  });
  expect(code).toBe(0);
  const section = out.slice(out.indexOf('Unhealthy')).replace(/\s+/g, ' ');
  expect(section).toContain(
    'latency p90 of rpc.latency (p99 of 5m) more than 15% above the tasks not yet updated, over 5m, of 5 samples or more: revert crashes',
  );
  expect(section).toContain('over 10m, of 10 samples or more: pause');
});
