import type { Tallies } from '../../domain/stats/tallies';
import { letPass, pastRelease, through } from './historyRows';

export const NO_TALLIES: Tallies = {
  firstMs: null,
  ...{ cadences: [], sizes: [], actionTypes: [], releases: [], failures: [], checks: [], progress: [] },
  ...{ unread: [], blames: [], patterns: [], bugs: [] },
  ...{ deploys: [], spans: [], times: [], leads: [], restores: [], histories: [] },
};

/** An example of every tally, for one category. */
export const talliesOf = (category: string): Tallies => {
  const counted = { category, count: 4 };
  return {
    firstMs: null,
    unread: [counted],
    cadences: [{ ...counted, cadence: 'daily' }],
    sizes: [
      { ...counted, actions: 2 },
      { ...counted, actions: 5 },
    ],
    actionTypes: [{ ...counted, type: 'build' }],
    releases: [
      { ...counted, state: 'succeeded', cause: null },
      { ...counted, state: 'cancelled', cause: 'bad-package' },
    ],
    failures: [{ ...counted, type: 'canary' }],
    checks: [{ ...counted, type: 'rpc' }],
    progress: [{ ...counted, tenth: 3 }],
    deploys: [
      { ...counted, state: 'succeeded', classification: 'success' },
      { category, count: 1, state: 'reverted', classification: 'bad-failure' },
    ],
    blames: [{ category, count: 1, blame: 'push type twine' }],
    patterns: [{ ...counted, pattern: 'super-linear' }],
    bugs: [{ bug: 'bug/7', count: 4 }],
    spans: [{ category, updateMs: 600_000, bakeMs: 400_000, preMs: 0, postMs: 0 }],
    times: [{ ...counted, p50Ms: 600_000, p99Ms: 7_200_000 }],
    leads: [{ ...counted, p50Ms: 1_800_000 }],
    restores: [{ category, count: 1, p50Ms: 90_000 }],
    histories: [
      { category, row: pastRelease(1, [through('a', letPass('cpu'))]) },
      { category, row: pastRelease(2, [through('b')]) },
    ],
  };
};
