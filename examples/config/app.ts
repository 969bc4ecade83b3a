import { watchConfig } from '../../sdk';
import { limits } from './flags/feed/limits.schema';

/** A server of the feed, as far as its limits go: it lives on each value that it gets, and refuses what it cannot serve. */

/** What one server of this kind can do. */
const MOST = 1_000;

/** Of this host; or of several, as arguments, to play a server on each of them. */
const [first, ...others] = process.argv.slice(2);
for (const url of first === undefined ? [undefined] : [first, ...others])
  watchConfig(
    'feed/limits',
    limits,
    ({ value, commit, override }) => {
      if (value.hard > MOST)
        throw new Error(`hard ${value.hard} is more than ${MOST}, which is all that a server can do`);
      process.stdout.write(`limits ${value.soft} and ${value.hard}, of ${override ?? commit}\n`);
    },
    url === undefined ? {} : { url },
  );
process.stdout.write('following feed/limits\n');
