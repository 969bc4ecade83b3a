// Prints the last two lines of .ci/run from jest's reports, and sets its exit code: `node count-tests.js REPEATS
// (REPORT EXIT_CODE)...`, a pair for each lane.
'use strict';

const { readFileSync } = require('node:fs');
const { readRepeats } = require('./repeats');

/**
 * A file that did not run counts as one failure. So do lint, types or a set-up that failed before any test, and a run
 * without any test, since it proves nothing.
 */
function count(report, code) {
  const passed = report?.numPassedTests ?? 0;
  const failed = (report?.numFailedTests ?? 0) + (report?.numRuntimeErrorTestSuites ?? 0);
  const wentWrong = code !== 0 || passed + failed === 0;
  return { passed, failed: wentWrong && failed === 0 ? 1 : failed };
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // jest ended before it wrote a report
  }
}

if (require.main === module) {
  const [repeats, ...lanes] = process.argv.slice(2);
  let [passed, failed] = [0, 0];
  for (; lanes.length > 0; lanes.splice(0, 2)) {
    const lane = count(read(lanes[0]), Number(lanes[1]));
    [passed, failed] = [passed + lane.passed, failed + lane.failed];
  }
  process.stdout.write(`${readRepeats(repeats).length} repeated\n${passed} passed, ${failed} failed\n`);
  process.exitCode = failed > 0 ? 1 : 0;
}

module.exports = { count };
