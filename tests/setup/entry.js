// Replaces configerator/entry.ts: in a run that has built dist/ first, programs start from there. Compiling one from its
// source takes three times as long as most of them run, and the tests of configuration start hundreds.
'use strict';

const path = require('node:path');
const { buildEntryArgs } = require('../../configerator/entry.ts');

const ROOT = path.join(__dirname, '../..');
const isBuilt = process.env['CONVEYOR_TEST_BUILT'] === '1';

exports.buildEntryArgs = (file, mayWrite) =>
  buildEntryArgs(isBuilt ? path.join(ROOT, 'dist', path.relative(ROOT, file)) : file, mayWrite);
