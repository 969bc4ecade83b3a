// Starts the compiled command line.
'use strict';

const { MAIN } = require('./build');
const { handOver } = require('./steps');

const runConveyor = (args) => handOver(process.execPath, [MAIN, ...args]);

module.exports = { runConveyor };
