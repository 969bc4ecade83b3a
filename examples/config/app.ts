import { watchConfig, type WatchedConfig } from '../../sdk';
import { limits } from './flags/feed/limits.schema';

/**
 * A server of the feed, as far as its limits go: it lives on each value that it gets, refuses what it cannot serve, and measures how many of its
 * answers are errors, as `HOST@CHANGE` or `HOST@COMMIT` (docs/guides/configuration.md#8-health).
 */

/** Requests a second of one user: with more it cannot start, … */
const MOST = 1_000;
/** … and of more than these it answers the rest with errors. */
const CAPACITY = 400;
const REPORT_MS = 500;

const metrics = process.env['CONVEYOR_SIMULATOR_URL'] || 'http://localhost:4400';
const proxy = process.env['CONVEYOR_CONFIG_PROXY'] || 'http://127.0.0.1:4700';

/** Values of this host; or of several, as arguments, to play a server on each of them. */
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
  // Uncollected metrics do not keep a server from serving.
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
