import { watchConfig } from '../../sdk/config';
import { limits } from './flags/feed/limits.schema';

/** A server of the feed, as far as its limits go: it lives on each value that it gets, and refuses what it cannot serve. */

/** What one server of this kind can do. */
const MOST = 1_000;

watchConfig('feed/limits', limits, ({ value, commit, override }) => {
  if (value.hard > MOST) throw new Error(`hard ${value.hard} is more than ${MOST}, which is all that a server can do`);
  process.stdout.write(`limits ${value.soft} and ${value.hard}, of ${override ?? commit}\n`);
});
