// `npm run reproduce -- [--pipelines N] [--weeks W] [--seed S] [--out FILE]`: runs a population with the shares of
// Conveyor §6 in virtual time, and writes a report with the paper's numbers next to the results.
'use strict';

const path = require('node:path');
const { parseArgs } = require('node:util');
const { Failed, handOver, say } = require('./steps');
const { ensureBuild } = require('./build');
const { ensureTestServer } = require('./servers');

async function runReproduce(args) {
  const { seed, pipelines, weeks, out } = parse(args);
  await ensureTestServer();
  await ensureBuild();
  say(`▸ seed ${seed}; the report comes into ${out}`);
  const jest = ['node_modules/jest/bin/jest.js', '--forceExit', 'tests/workflows/reproduce.night.test.ts'];
  return handOver(process.execPath, jest, { CONVEYOR_REPRODUCE: `${seed}:${pipelines}:${weeks}:${path.resolve(out)}` });
}

function parse(args) {
  const options = {
    pipelines: { type: 'string', default: '40' },
    weeks: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string', default: 'docs/reproduction.md' },
  };
  try {
    const { values } = parseArgs({ args, options });
    const [pipelines, weeks, seed] = [values.pipelines, values.weeks, values.seed].map(Number);
    if ([pipelines, weeks, seed].every((it) => Number.isInteger(it) && it > 0))
      return { pipelines, weeks, seed, out: values.out };
  } catch {
    // The usage is printed below.
  }
  throw new Failed('usage: npm run reproduce -- [--pipelines N] [--weeks W] [--seed S] [--out FILE]', 2);
}

module.exports = { runReproduce };
