'use strict';

const { default: Sequencer } = require('@jest/test-sequencer');

const isOfSystem = ({ context }) => context.config.displayName?.name === 'system';

/** A system test waits for processes much of its time, one in virtual time never: run next to each other they leave no core idle. */
module.exports = class AlternatingSequencer extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const system = sorted.filter(isOfSystem);
    const others = sorted.filter((test) => !isOfSystem(test));
    const pairs = Array.from({ length: Math.max(system.length, others.length) }, (_, at) => [system[at], others[at]]);
    return pairs.flat().filter((test) => test !== undefined);
  }
};
