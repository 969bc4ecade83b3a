import type { Hono } from 'hono';
import { behaviourAt } from '../metrics/behaviour';
import type { Simulation } from '../simulation';
import { actionService } from './runs';

/** A test runner: passes unless the behaviour of one of the versions under test says `failTests`. */
export const testRunner = (simulation: Simulation, service: 'integr-test' | 'perf-test'): Hono =>
  actionService(simulation, service, ({ inputs }) => {
    const bad = inputs.find(
      ({ version }) => behaviourAt(simulation.state.behaviours, version, simulation.world.now).failTests,
    );
    return { outputs: [], failure: bad ? `${bad.name} ${bad.version} failed its tests` : null };
  });
