import { collect } from '../../archive/collect';
import { archiveAt } from './archiveAt';
import { DAY_MS } from '../../domain/milliseconds';
import { archived, HOUR_MS } from '../builders/archiveRows';

/** A process of its own that brings an archive up to date, and prints a line for each release that it reads. Its parent may kill it. */
const [place = '', releases = '0'] = process.argv.slice(2);
const NOW_MS = (Number(releases) + 2) * HOUR_MS;

void collect(
  archiveAt(place),
  {
    origin: () => Promise.resolve({ name: 'default/a', retentionMs: NOW_MS + DAY_MS }),
    polledMs: () => Promise.resolve(null),
    isUnanswered: () => true,
    closed: async function* (sinceMs, untilMs) {
      for (let number = 1; number <= Number(releases); number += 1) {
        if (number * HOUR_MS < sinceMs || number * HOUR_MS >= untilMs) continue;
        const read = () => {
          process.stdout.write(`read ${number}\n`);
          return Promise.resolve(archived(number));
        };
        const run = { workflowId: `release/kvstore/${number}`, runId: 'run', closedMs: number * HOUR_MS };
        yield { ...run, rows: read, remains: read };
      }
    },
  },
  NOW_MS,
).then(() => process.stdout.write('done\n'));
