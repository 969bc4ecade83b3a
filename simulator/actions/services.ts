import type { Hono } from 'hono';
import type { Simulation } from '../simulation';
import { buildService } from './build';
import { checkAndPrefetch, loadTestFilter, sanityCheck } from './frontfaas';
import { perfTest } from './perfTest';
import { pkgService } from './pkg';
import { profiler } from './profile';
import { runService } from './runs';
import { testRunner } from './tests';

/** The action services of the world, by the name under which they are served and registered. */
export const actionServices = (simulation: Simulation): Readonly<Record<string, Hono>> => ({
  build: buildService(simulation),
  pkg: pkgService(simulation),
  'integr-test': testRunner(simulation),
  'perf-test': perfTest(simulation),
  // For the examples.
  profile: profiler(simulation),
  'sanity-check': sanityCheck(simulation),
  'load-test-filter': loadTestFilter(simulation),
  'check-and-prefetch': checkAndPrefetch(simulation),
  'incident-report': runService(simulation, 'incident-report', ({ pipeline, release }) => ({
    ...{ outputs: [], failure: null, steps: ['writing it down'], said: `filed a report of ${pipeline}/${release}` },
  })),
});
