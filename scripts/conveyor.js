// Becomes the compiled command line, so that killing this process kills the command and not a wrapper around it.
'use strict';

const { MAIN } = require('./build');
const { ROOT } = require('./steps');

/** Never resolves: the process ends when the command line ends it. */
function runConveyor(args) {
  process.chdir(ROOT);
  process.argv = [process.execPath, MAIN, ...args];
  require(MAIN);
  return new Promise(() => undefined);
}

module.exports = { runConveyor };
