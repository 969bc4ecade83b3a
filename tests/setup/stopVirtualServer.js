// After tests in virtual time: ends what virtualServer.js started.
'use strict';

module.exports = async () => {
  globalThis.conveyorVirtualHost?.kill('SIGKILL');
};
