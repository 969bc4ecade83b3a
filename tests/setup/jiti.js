// Jest runs files in a separate context, in which `import()` is not available: jiti uses require for these imports.
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
