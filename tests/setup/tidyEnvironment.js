'use strict';

const asyncHooks = require('node:async_hooks');
const v8 = require('node:v8');
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

// Workflows run in the thread of the tests. The SDK's hook, which keeps stacks for the query `__stack_trace`, would be called for every
// promise of this process, and one more for each test file, all of whose modules it would keep.
v8.promiseHooks = { ...v8.promiseHooks, createHook: () => () => undefined };

// For each call into a workflow that may take only so long Node starts and ends a thread. Here that limit is weeks.
const { runInContext } = vm.Script.prototype;
vm.Script.prototype.runInContext = function (context, options) {
  return runInContext.call(this, context, { ...options, timeout: undefined });
};

/** Of the test file that runs. */
const storages = new Set();

asyncHooks.AsyncLocalStorage = class extends asyncHooks.AsyncLocalStorage {
  constructor(...args) {
    super(...args);
    storages.add(this);
  }
};

/**
 * Leaves nothing behind in the process, which runs one test file after the other. Node copies what each AsyncLocalStorage holds to
 * every promise, also of one whose test file has ended, until it is disabled; every file loads the SDK's anew.
 */
module.exports = class TidyEnvironment extends TestEnvironment {
  async teardown() {
    for (const storage of storages) storage.disable();
    storages.clear();
    await super.teardown();
  }
};
