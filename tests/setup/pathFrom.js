// The path that one of the shell scripts prints last; the script first gets the program if it is missing.
'use strict';

const { spawnSync } = require('node:child_process');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '../..');

function pathFrom(script, ...args) {
  const { status, stdout, error } = spawnSync('bash', [path.join(ROOT, script), ...args], {
    stdio: ['ignore', 'pipe', 2],
    encoding: 'utf8',
  });
  if (status !== 0)
    throw new Error(`${script} failed${error ? `: ${error.message}` : '; see above for what is missing'}`);
  return stdout.trim().split('\n').at(-1);
}

module.exports = { ROOT, pathFrom };
