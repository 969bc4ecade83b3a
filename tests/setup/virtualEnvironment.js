'use strict';

const { setTimeout: wait } = require('node:timers/promises');
const TidyEnvironment = require('./tidyEnvironment');
const { WAITED, addRepeat, mayRepeat } = require('../../scripts/repeats');

const PATIENCE_MS = 20_000;

/** For a failure that jest stores together with the place of the test. */
const messageOf = (failure) => {
  const error = Array.isArray(failure) ? failure[0] : failure;
  return String(error?.message ?? error);
};

/**
 * The time-skipping test server occasionally loses a task (tests/workflows/activityEnds.ts), and a story then waits for
 * ever. Such a test runs a second time and reports it, if the server has provably lost one at that moment
 * (tests/workflows/lostTasks.ts). Any other endless wait of a story is a stall of the product.
 */
class VirtualEnvironment extends TidyEnvironment {
  failures = new Map();
  /** By test, the tasks that the server had lost when it failed. */
  lost = new Map();

  async setup() {
    await super.setup();
    this.global[Symbol.for('RETRY_TIMES')] = 1;
  }

  async handleTestEvent({ name, test, error }) {
    // Runs before the hooks that close the world.
    if (name === 'test_fn_failure' && WAITED.test(messageOf(error))) this.lost.set(test, await this.lostTasks());
    if (name === 'test_done' && test.errors.length > 0) this.failures.set(test, [...test.errors]);
    if (name === 'test_start' && this.failures.has(test)) this.again(test, this.failures.get(test));
  }

  /** Jest would run every failed test again; once its errors are back it does not. */
  again(test, errors) {
    const messages = errors.map(messageOf);
    const lost = this.lost.get(test) ?? [];
    if (!mayRepeat(messages, lost)) return void test.errors.push(...errors);
    addRepeat(test.name);
    process.stderr.write(
      `repeated, as the test server lost ${lost.join(', ')}: ${test.name}\n${messages.join('\n')}\n`,
    );
  }

  /** Checks every open world: tests/workflows/lostTasks.ts. A server that never frees one of its own locks gives no answer about it. */
  async lostTasks() {
    const worlds = this.global[Symbol.for('conveyor.worlds')] ?? [];
    const ask = (world) =>
      Promise.race([world.lostTasks().catch(() => []), wait(PATIENCE_MS, ['every answer'], { ref: false })]);
    return (await Promise.all([...worlds].map(ask))).flat();
  }
}

module.exports = VirtualEnvironment;
