import { createRequire } from 'node:module';
import { createContext, Script } from 'node:vm';

/**
 * Has the stacks of errors written by a function that comes from an empty world. V8 has them written by a function of Node's, also those
 * of programs; a program that leaves it no stack to run on catches an error of its world, which is ours, and by that the rest.
 * @throws where Node has no such thing any more: then no program may run
 */
export function writeStacksApart(): void {
  const empty = createContext(Object.create(null) as object, { codeGeneration: { strings: false, wasm: false } });
  // Of Node's own tests, behind --expose-internals: nothing public changes this.
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
