// Runs after system tests: stops the server that devServer.js started, and waits until it is gone.
'use strict';

const { rmSync } = require('node:fs');
const { once } = require('node:events');

module.exports = async () => {
  const child = globalThis.conveyorDevServer;
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const impatience = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await gone;
  clearTimeout(impatience);
  const folder = globalThis.conveyorClusterFolder;
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
};
