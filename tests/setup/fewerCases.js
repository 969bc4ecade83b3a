// In the short lane jest replaces fast-check with this: each property is tried with a quarter of its cases. A case that
// is replayed is replayed unchanged.
'use strict';

const path = require('node:path');
const real = require(path.join(path.dirname(require.resolve('fast-check/package.json')), 'lib/cjs/fast-check.js'));

const SHARE = 4;
const LEAST = 10;
const USUAL = 100;

function fewer({ numRuns = USUAL, examples = [], ...more } = {}) {
  if (more.path !== undefined) return { numRuns, examples, ...more };
  const some = Math.max(LEAST, examples.length, Math.ceil(numRuns / SHARE));
  return { numRuns: Math.min(numRuns, some), examples, ...more };
}

const assert = (property, parameters) => real.assert(property, fewer(parameters));

Object.defineProperty(exports, '__esModule', { value: true });
Object.assign(exports, real, { assert, default: { ...real.default, assert } });
