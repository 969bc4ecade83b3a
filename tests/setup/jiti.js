// Jest runs files in a context of its own, where `import()` cannot be had: jiti takes what it would import so by require.
'use strict';

const { createRequire } = require('node:module');
const { dirname, join } = require('node:path');

const dist = join(dirname(require.resolve('jiti/package.json')), 'dist');
const createBareJiti = require(join(dist, 'jiti.cjs'));
const transform = require(join(dist, 'babel.cjs'));

const host = {
  onError: (error) => {
    throw error;
  },
  nativeImport: async (id) => require(id),
  createRequire,
};

exports.createJiti = (id, options = {}) => createBareJiti(id, { transform, ...options }, host);
