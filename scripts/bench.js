// `npm run bench -- [name …]`: the benchmarks of bench/ in small sizes, and one table of results.
'use strict';

const { handOver } = require('./steps');
const { ensureBuild } = require('./build');
const { ensureTemporal } = require('./servers');

async function runBench(args) {
  await ensureTemporal();
  await ensureBuild();
  return handOver(process.execPath, ['node_modules/jiti/lib/jiti-cli.mjs', 'bench/all.ts', ...args]);
}

module.exports = { runBench };
