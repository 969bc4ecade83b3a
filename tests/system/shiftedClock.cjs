// Makes the clock of a process wrong by CLOCK_OFF_MS: `node --require shiftedClock.cjs`.
'use strict';

const Right = Date;
const offMs = Number(process.env.CLOCK_OFF_MS);

globalThis.Date = class extends Right {
  constructor(...given) {
    super(...(given.length === 0 ? [Right.now() + offMs] : given));
  }

  static now() {
    return Right.now() + offMs;
  }
};
