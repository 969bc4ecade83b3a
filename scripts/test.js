// `npm test`: lint, types and every test. With arguments they go to jest and only jest runs.
'use strict';

const { handOver, run, step } = require('./steps');
const { ensureBuild } = require('./build');
const { ensureTemporal, ensureTestServer } = require('./servers');

async function runTests(args) {
  // What is missing is said before anything takes time.
  await ensureTestServer();
  await ensureTemporal();
  await ensureBuild();
  if (args.length === 0) {
    await step('lint', () =>
      node(
        'node_modules/eslint/bin/eslint.js',
        '.',
        '--cache',
        '--cache-location',
        'dist/.eslintcache',
        '--max-warnings',
        '0',
      ),
    );
    await step('types', () => node('node_modules/typescript/bin/tsc', '--noEmit'));
  }
  return handOver(process.execPath, ['node_modules/jest/bin/jest.js', ...report(), ...args]);
}

/** `.ci/run` counts what passed from jest's own report. */
function report() {
  const file = process.env.CONVEYOR_TEST_REPORT;
  return file ? ['--json', `--outputFile=${file}`] : [];
}

const node = (...args) => run(process.execPath, args, { what: args[0].split('/').at(-1) });

module.exports = { runTests };
