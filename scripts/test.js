// `npm test`: lint, types and the short lane of tests; `npm run test:long` and `npm run test:night` run the other lanes, and
// `npm run test:all` everything. With arguments, only jest runs, with these arguments and on all lanes.
'use strict';

const { mkdtempSync, readdirSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { ROOT, handOver, run, say, step } = require('./steps');
const { MOST, readRepeats } = require('./repeats');
const { ensureBuild } = require('./build');
const { ensureEtcd, ensurePostgres, ensureTemporal, ensureTestServer } = require('./servers');

/** Nearly all objects of a simulated world are short-lived; a larger young generation avoids copying them. */
const YOUNG = ['--max-semi-space-size=64'];

/** @param lane 'short', 'long', 'night' or 'all' */
async function runTests(lane, args) {
  // Reports missing programs before anything takes time.
  await ensureTestServer();
  await ensureTemporal();
  await ensureEtcd();
  await ensurePostgres();
  const checks = args.length === 0 && ['short', 'all'].includes(lane);
  if (checks) await runBoth(lint(), ensureBuild().then(types));
  else await ensureBuild();
  const given = process.env.CONVEYOR_TEST_REPEATS;
  const repeats = given || path.join(mkdtempSync(path.join(tmpdir(), 'conveyor-tests-')), 'repeats');
  const jest = [...YOUNG, 'node_modules/jest/bin/jest.js', ...report(), ...args];
  const code = await handOver(process.execPath, jest, {
    ...{ CONVEYOR_TEST_REPEATS: repeats, CONVEYOR_TEST_BUILT: '1' },
    CONVEYOR_TEST_LANE: args.length === 0 ? lane : 'all',
  });
  if (args.length === 0 && lane === 'short')
    say(
      `left out: ${countFiles('long')} files of the long lane, ${countFiles('night')} of the night lane (npm run test:all)`,
    );
  return judgeRepeats(code, readRepeats(repeats), !given);
}

const countFiles = (lane) =>
  readdirSync(path.join(ROOT, 'tests'), { recursive: true }).filter((file) => file.endsWith(`.${lane}.test.ts`)).length;

/** Each check needs one core; the errors of one do not hide those of the other. */
async function runBoth(...checks) {
  const failed = (await Promise.allSettled(checks)).find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
}

const lint = () =>
  step('lint', () =>
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

const types = () => step('types', () => node('node_modules/typescript/bin/tsc', '--noEmit'));

/** Lists repeated stories at the end, where they are not overlooked; `.ci/run` prints the number itself. */
function judgeRepeats(code, titles, counts) {
  for (const title of titles) say(`repeated: ${title}`);
  if (counts) say(`${titles.length} repeated`);
  if (titles.length <= MOST) return code;
  say(`error: more than ${MOST} tests were repeated, so that this run proves nothing`);
  return code || 1;
}

/** `.ci/run` counts the passed tests from jest's own report. */
function report() {
  const file = process.env.CONVEYOR_TEST_REPORT;
  return file ? ['--json', `--outputFile=${file}`] : [];
}

const node = (...args) => run(process.execPath, args, { what: args[0].split('/').at(-1) });

module.exports = { runTests };
