// `npm run chaos -- --seeds N --from S`: stories from N seeds, beginning with S, in virtual time. The same seed is the
// same story. With `--configuration` each story deploys configuration; with `--offers` its pipeline is one of several
// that wish for offers of each other; with `--past` the stories of earlier failures come first; with `--planted` it
// tests whether these and the seeds find our planted defects (planted.js), or those whose name has the words of
// `--only`. `--kills N --from S --within MS` kills real processes of configuration N times
// while changes land, at moments chosen by the seed S, each within MS of the last.
'use strict';

const { parseArgs } = require('node:util');
const { Failed, handOver } = require('./steps');
const { ensureBuild } = require('./build');
const { runPlanted } = require('./planted');
const { ensureEtcd, ensureTemporal, ensureTestServer } = require('./servers');

/** The kinds of stories besides that of one pipeline with executables. */
const KINDS = ['configuration', 'offers'];

async function runChaos(args) {
  const { seeds, from, planted, only, past, kind, kills, within } = parse(args);
  if (kills > 0) return runKills(kills, from, within);
  await ensureTestServer();
  await ensureBuild();
  if (planted) return runPlanted({ seeds, from, only });
  // A world whose time has stopped is abandoned, and would keep the process alive.
  const jest = ['node_modules/jest/bin/jest.js', '--forceExit', 'tests/workflows/chaos.long.test.ts'];
  return handOver(process.execPath, [...jest, '-t', past ? 'seed|a story that went wrong once' : 'seed'], {
    CONVEYOR_CHAOS: `${from}:${seeds}${kind === undefined ? '' : `:${kind}`}`,
  });
}

async function runKills(kills, from, within) {
  await ensureTemporal();
  await ensureEtcd();
  await ensureBuild();
  const jest = ['node_modules/jest/bin/jest.js', 'tests/system/configKills.long.test.ts'];
  return handOver(process.execPath, jest, { CONVEYOR_CONFIG_KILLS: `${from}:${kills}:${within}` });
}

function parse(args) {
  const options = {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    planted: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    past: { type: 'boolean', default: false },
    configuration: { type: 'boolean', default: false },
    offers: { type: 'boolean', default: false },
    kills: { type: 'string', default: '0' },
    within: { type: 'string', default: '600' },
  };
  try {
    const { values } = parseArgs({ args, options });
    const { planted, only, past } = values;
    const [kind, ...others] = KINDS.filter((one) => values[one]);
    const [seeds, from, kills, within] = [values.seeds, values.from, values.kills, values.within].map(Number);
    if (others.length === 0 && [seeds, from, kills + 1, within].every((it) => Number.isInteger(it) && it > 0))
      return { seeds, from, planted, only, past, kind, kills, within };
  } catch {
    // The usage is printed below.
  }
  throw new Failed(
    'usage: npm run chaos -- [--seeds N] [--from S] [--configuration | --offers | --past | --planted [--only WORDS] | --kills N [--within MS]]',
    2,
  );
}

module.exports = { runChaos };
