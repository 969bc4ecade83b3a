import { viaApp } from '../../sdk/client';
import { expectNoViolations, givenFleet } from '../domain/simulatorFleet';
import { describeActionService } from './actionService';

const SERVICES = [
  ['build', { badVersion: '13' }],
  ['integr-test', { badVersion: '13' }],
  ['perf-test', { badVersion: '13' }],
  ['pkg', {}],
  ['sanity-check', {}],
  ['load-test-filter', {}],
  ['check-and-prefetch', {}],
  ['profile', {}],
  ['incident-report', {}],
] as const;

for (const [name, options] of SERVICES)
  describeActionService(name, async () => {
    const fleet = givenFleet();
    await fleet.behaves('13', { failBuild: true, failTests: true });
    await fleet.job('kvstore-x', { version: '12', tasks: 20 });
    const settle = (): void => fleet.pass(60_000);
    return { fetch: viaApp(fleet.app), url: `http://simulator/actions/${name}`, settle, ...options };
  });

afterEach(expectNoViolations);
