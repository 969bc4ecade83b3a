// The clock of a process that is CLOCK_OFF_MS off: `node --require shiftedClock.cjs`.
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
