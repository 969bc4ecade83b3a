import { StateLog } from '../../push-types/git-commit/stateLog';
import { observe } from '../../push-types/git-commit/watcher';
import { judgeTargets } from '../../sdk/health';
import { healthCheckSchema } from '../../domain/spec/health';

const MINUTE = 60_000;
const LOOK = 10_000;
const NOW = 1_800_000_000_000;

/** Judges a cluster by what was said about it, each ten seconds. */
async function judge(states: readonly ('live' | 'waiting' | 'failed' | 'silent')[]) {
  const log = new StateLog();
  states.forEach((state, nth) => log.note('web-eu/eu', observe(state, ''), NOW - (states.length - nth) * LOOK));
  const check = healthCheckSchema.parse({
    name: 'degraded',
    metric: 'gitops.failed',
    threshold: { above: 0 },
    minSamples: 3,
  });
  const { units } = await judgeTargets({
    ...{ targets: [{ id: 'web-eu', fresh: ['web-eu/eu'], control: [], before: [] }], checks: [check] },
    ...{ baseline: { start: NOW - 60 * MINUTE, end: NOW - 30 * MINUTE }, now: NOW, query: log.query },
  });
  return units[0]?.checks[0]?.verdict;
}

describe('health without any other program', () => {
  test('is unhealthy once a cluster is degraded, and healthy while it is live', async () => {
    expect(await judge(Array.from({ length: 10 }, () => 'live'))).toBe('healthy');
    expect(await judge(Array.from({ length: 10 }, () => 'failed'))).toBe('unhealthy');
  });

  test('knows nothing of a cluster about which nothing was said', async () => {
    expect(await judge(Array.from({ length: 10 }, () => 'silent'))).toBe('inconclusive');
  });

  test('names the metrics that there are', async () => {
    const asked = { metric: 'errors', selector: { tasks: [] }, start: 0, end: 1 } as never;
    await expect(new StateLog().query(asked, {} as never)).rejects.toThrow(
      'only gitops.failed, gitops.live: start it with --prometheus',
    );
  });
});
