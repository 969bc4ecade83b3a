'use strict';

const asyncHooks = require('node:async_hooks');
const v8 = require('node:v8');
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

// Workflows run in the thread of the tests. The SDK's hook, which keeps stacks for the query `__stack_trace`, would be called for every promise of
// this process, with one more hook for each test file, which would keep all modules of that file.
v8.promiseHooks = { ...v8.promiseHooks, createHook: () => () => undefined };

// For each call into a workflow with a time limit Node starts and ends a thread. Here that limit is weeks.
const { runInContext } = vm.Script.prototype;
vm.Script.prototype.runInContext = function (context, options) {
  return runInContext.call(this, context, { ...options, timeout: undefined });
};

// Jest gives each test file its own global object, behind a proxy that every use of `Math` or `Promise` passes, and compiles every module for it
// again. Here all files of a process share its global object, and the compiled code: modules are still loaded again.
const { compileFunction } = vm;
const contexts = new WeakSet();
const compiled = new Map();
vm.compileFunction = (code, params, options) => {
  if (!contexts.has(options?.parsingContext)) return compileFunction(code, params, options);
  const { filename } = options;
  const known = compiled.get(filename);
  if (known?.code === code) return known.load;
  const load = compileFunction(code, params, { filename });
  compiled.set(filename, { code, load });
  return load;
};

/** The running test file. */
const storages = new Set();

const { AsyncLocalStorage } = asyncHooks;
class KnownStorage extends AsyncLocalStorage {
  constructor(...args) {
    super(...args);
    storages.add(this);
  }
}
// Newer releases of Node have a getter there.
Object.defineProperty(asyncHooks, 'AsyncLocalStorage', { value: KnownStorage });

/**
 * Properties that jest keeps on the global object of a test file. If they stay there, they affect all later files of
 * the process: a `jest.setTimeout`, a retry, and each handler of events, which then reports every later test once more.
 */
const OF_JEST = new Set([
  'JEST_STATE_SYMBOL',
  'EVENT_HANDLERS',
  'TEST_TIMEOUT_SYMBOL',
  'RETRY_TIMES',
  'RETRY_IMMEDIATELY',
  'WAIT_BEFORE_RETRY',
  'LOG_ERRORS_BEFORE_RETRY',
]);

/** Properties of the process, which the test files share. */
const allListeners = () =>
  process.eventNames().flatMap((name) => process.rawListeners(name).map((listener) => ({ name, listener })));

/**
 * Leaves nothing behind in the process, which runs one test file after the other. Node copies the content of each AsyncLocalStorage to every promise,
 * even if its test file has ended, until it is disabled; every file loads a new one with the SDK.
 */
module.exports = class TidyEnvironment extends TestEnvironment {
  constructor(...args) {
    super(...args);
    contexts.add(this.context);
    this.global = globalThis;
    // Jest replaces these.
    this.replaced = { console: globalThis.console, exit: process.exit };
    this.listeners = new Set(allListeners().map(({ listener }) => listener));
  }

  async teardown() {
    globalThis.console = this.replaced.console;
    process.exit = this.replaced.exit;
    for (const { name, listener } of allListeners())
      if (!this.listeners.has(listener)) process.removeListener(name, listener);
    for (const symbol of Object.getOwnPropertySymbols(globalThis))
      if (OF_JEST.has(symbol.description)) delete globalThis[symbol];
    for (const storage of storages) storage.disable();
    storages.clear();
    await super.teardown();
  }
};
