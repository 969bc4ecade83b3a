import { createRequire } from 'node:module';
import { createContext, Script } from 'node:vm';

/**
 * Makes a function from an empty world format the stacks of errors. V8 calls a function of Node for this, even for errors of programs. If a
 * program leaves that function no stack to run on, it catches an error of the function's world, which is ours, and through it everything else.
 * @throws if Node no longer has this internal: then no program may run
 */
export function writeStacksApart(): void {
  const empty = createContext(Object.create(null) as object, { codeGeneration: { strings: false, wasm: false } });
  // Made for Node's own tests, behind --expose-internals: nothing public can change this.
  const { internalBinding } = createRequire(__filename)('internal/test/binding') as {
    internalBinding(name: 'errors'): Errors;
  };
  internalBinding('errors').setPrepareStackTraceCallback(new Script(WRITE).runInContext(empty));
}

interface Errors {
  setPrepareStackTraceCallback(write: unknown): void;
}

const WRITE = `(function (world, error, sites) {
  'use strict';
  let text = '';
  for (let at = 0; at < sites.length && at < 50; at += 1) text += '\\n    at ' + sites[at];
  return text;
})`;
