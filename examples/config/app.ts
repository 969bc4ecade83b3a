import { watchConfig, type WatchedConfig } from '../../sdk';
import { limits } from './flags/feed/limits.schema';

/**
 * The limits of a server of the feed: it adopts each value that it gets, refuses values that it cannot serve, and measures the share of its answers
 * that are errors, as `HOST@CHANGE` or `HOST@COMMIT` (docs/guides/configuration.md#8-health).
 */

/** Requests a second of one user: a limit above this keeps it from starting, … */
const MOST = 1_000;
/** … and it answers requests above this with errors. */
const CAPACITY = 400;
const REPORT_MS = 500;

const metrics = process.env['CONVEYOR_SIMULATOR_URL'] || 'http://localhost:4400';
const proxy = process.env['CONVEYOR_CONFIG_PROXY'] || 'http://127.0.0.1:4700';

/** The addresses of proxies, as arguments, to play a server on each of their hosts; by default this host's. */
const [first = proxy, ...others] = process.argv.slice(2);
for (const url of [first, ...others]) {
  const followed = watchConfig(
    'feed/limits',
    limits,
    ({ value, commit, override }) => {
      if (value.hard > MOST)
        throw new Error(`hard ${value.hard} is more than ${MOST}, which is all that a server can do`);
      process.stdout.write(`limits ${value.soft} and ${value.hard}, of ${override ?? commit}\n`);
    },
    { url },
  );
  // Failed reports do not stop a server from serving.
  setInterval(() => void reportErrors(followed).catch(() => undefined), REPORT_MS);
}
process.stdout.write('following feed/limits\n');

async function reportErrors(followed: WatchedConfig<{ readonly hard: number }>): Promise<void> {
  const [has, task] = [followed.current(), followed.task()];
  if (has === undefined) return;
  const errors = Math.max(0, 1 - CAPACITY / has.value.hard);
  const point = { task, metric: 'rpc.error_ratio', value: errors };
  const headers = { 'content-type': 'application/json' };
  await fetch(`${metrics}/control/metrics`, { method: 'POST', headers, body: JSON.stringify({ points: [point] }) });
}
