// Tests that ran a second time because the test server had lost a task (tests/setup/virtualEnvironment.js): one line
// each in the file CONVEYOR_TEST_REPEATS, for the last lines of a run.
'use strict';

const { appendFileSync, readFileSync } = require('node:fs');

/** A run with more repeated tests proves nothing. */
const MOST = 3;

/** Whether a test may run again: it failed only because a wait never ended, and it waited only for tasks that the server has lost. */
const WAITED = /virtual time stands still|of virtual time until|Exceeded timeout of/;
const mayRepeat = (messages, lost) => lost.length > 0 && messages.every((message) => WAITED.test(message));

function addRepeat(title, file = process.env.CONVEYOR_TEST_REPEATS) {
  if (file) appendFileSync(file, `${title.replace(/\s+/g, ' ')}\n`);
}

/** The titles of the repeated tests; none if the file was not written. */
function readRepeats(file) {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

module.exports = { MOST, WAITED, mayRepeat, addRepeat, readRepeats };
