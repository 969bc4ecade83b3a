// `npm run chaos -- --seeds N --from S`: stories from N seeds, beginning with S, in virtual time. The same seed is the same story.
// With `--configuration` each deploys configuration; with `--planted`, whether they find defects of our own (planted.js).
'use strict';

const { parseArgs } = require('node:util');
const { Failed, handOver } = require('./steps');
const { ensureBuild } = require('./build');
const { runPlanted } = require('./planted');
const { ensureTestServer } = require('./servers');

async function runChaos(args) {
  const { seeds, from, planted, configuration } = parse(args);
  await ensureTestServer();
  await ensureBuild();
  if (planted) return runPlanted({ seeds, from });
  // A world in which time stood still is left behind, and would keep the process.
  const jest = ['node_modules/jest/bin/jest.js', '--forceExit', 'tests/workflows/chaos.test.ts', '-t', 'seed'];
  return handOver(process.execPath, jest, {
    CONVEYOR_CHAOS: `${from}:${seeds}${configuration ? ':configuration' : ''}`,
  });
}

function parse(args) {
  const options = {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    planted: { type: 'boolean', default: false },
    configuration: { type: 'boolean', default: false },
  };
  try {
    const { values } = parseArgs({ args, options });
    const { planted, configuration } = values;
    const [seeds, from] = [Number(values.seeds), Number(values.from)];
    if (Number.isInteger(seeds) && seeds > 0 && Number.isInteger(from) && from > 0)
      return { seeds, from, planted, configuration };
  } catch {
    // Says what it takes, below.
  }
  throw new Failed('usage: npm run chaos -- [--seeds N] [--from S] [--configuration | --planted]', 2);
}

module.exports = { runChaos };
