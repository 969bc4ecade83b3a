import type { Hono } from 'hono';
import { behaviourAt } from '../metrics/behaviour';
import type { Simulation } from '../simulation';
import { runService, type StartRun } from './runs';

/** Integration tests: they pass unless the behaviour of one of the versions under test has `failTests`. */
export const testRunner = (simulation: Simulation): Hono =>
  runService(simulation, 'integr-test', (request) => ({
    outputs: [],
    failure: whyBroken(simulation, request),
    steps: ['setting up', 'running the tests', 'tearing down'],
    said: 'all tests passed',
  }));

/** Names a version under test that fails its tests; null if all pass. */
export function whyBroken(simulation: Simulation, { inputs }: StartRun): string | null {
  const bad = inputs.find(
    ({ version }) => behaviourAt(simulation.state.behaviours, version, simulation.world.now).failTests,
  );
  return bad === undefined ? null : `${bad.name} ${bad.version} failed its tests`;
}
