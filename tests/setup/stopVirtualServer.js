// Runs after tests in virtual time: ends the processes that virtualServer.js started.
'use strict';

module.exports = async () => {
  globalThis.conveyorVirtualHost?.kill('SIGKILL');
};
