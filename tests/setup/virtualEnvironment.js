'use strict';

const { TestEnvironment } = require('jest-environment-node');

const LOST_TIME = /virtual time stands still|of virtual time until|Exceeded timeout of/;
/** Of a failure that jest keeps with the place where the test was written. */
const messageOf = (failure) => {
  const error = Array.isArray(failure) ? failure[0] : failure;
  return String(error?.message ?? error);
};

/**
 * The time-skipping test server loses an activity now and then (tests/workflows/activityEnds.ts), and a story then waits for
 * ever. Such a test runs a second time and says so. What failed for any other reason, or for another one besides, has failed.
 */
class VirtualEnvironment extends TestEnvironment {
  failures = new Map();

  async setup() {
    await super.setup();
    this.global[Symbol.for('RETRY_TIMES')] = 1;
  }

  handleTestEvent({ name, test }) {
    if (name === 'test_done' && test.errors.length > 0) this.failures.set(test, [...test.errors]);
    const before = name === 'test_start' ? this.failures.get(test) : undefined;
    if (before === undefined) return;
    const messages = before.map(messageOf);
    if (!messages.every((message) => LOST_TIME.test(message))) test.errors.push(...before);
    else process.stderr.write(`told again, since time was lost: ${test.name}\n${messages.join('\n')}\n`);
  }
}

module.exports = VirtualEnvironment;
