import { viaApp } from '../../sdk/client';
import { ACTION_SERVICE_CHECKS } from '../../sdk/conform/actionService';
import { expectNoViolations, givenFleet } from '../builders/simulatorFleet';
import { describeSuite } from './suite';

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
  describeSuite(
    `action service ${name}`,
    ACTION_SERVICE_CHECKS,
    async () => {
      const fleet = givenFleet();
      await fleet.behaves('13', { failBuild: true, failTests: true });
      await fleet.job('kvstore-x', { version: '12', tasks: 20 });
      return {
        ...{ fetch: viaApp(fleet.app), url: `http://simulator/actions/${name}`, runs: 'run' },
        ...{ input: { name: 'source', version: '12' }, outputs: ['executable'] },
        with: { target: '//kv:server', outputs: ['executable'] },
        settle: async () => fleet.pass(60_000),
        ...options,
      };
    },
    'badVersion' in options ? [] : ['badVersion'],
  );

afterEach(expectNoViolations);
