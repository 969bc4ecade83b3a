'use strict';

const { default: Sequencer } = require('@jest/test-sequencer');

/** Those that take minutes begin first: jest knows no durations on a machine where nothing has run, and would end with one of them alone. */
const LONGEST = ['workflows/chaos', 'workflows/teastore', 'pages/browser'].map((name) => `tests/${name}.long.test.ts`);
const isLongest = ({ path }) => LONGEST.some((file) => path.endsWith(`/${file}`));
const isOfSystem = ({ context }) => context.config.displayName?.name === 'system';

/** A system test waits for processes much of its time, one in virtual time never: run next to each other they leave no core idle. */
module.exports = class AlternatingSequencer extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const longest = sorted.filter(isLongest);
    const rest = sorted.filter((test) => !isLongest(test));
    const system = rest.filter(isOfSystem);
    const others = rest.filter((test) => !isOfSystem(test));
    const pairs = Array.from({ length: Math.max(system.length, others.length) }, (_, at) => [system[at], others[at]]);
    return [...longest, ...pairs.flat().filter((test) => test !== undefined)];
  }
};

module.exports.LONGEST = LONGEST;
