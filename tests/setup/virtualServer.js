// Runs before tests in virtual time: sets CONVEYOR_TEST_BUNDLE and CONVEYOR_TEST_SERVER, the wrapper that each test starts.
'use strict';

const { spawn } = require('node:child_process');
const { existsSync } = require('node:fs');
const path = require('node:path');
const { ensureBundle } = require('../../scripts/bundle');
const { ROOT, pathFrom } = require('./pathFrom');

const TOOLS = path.join(ROOT, 'tools/test-server');

module.exports = async () => {
  process.env.CONVEYOR_TEST_BUNDLE = (await ensureBundle()).codePath;
  const server = pathFrom('scripts/test-server.sh');
  const host = await startHost(path.join(path.dirname(server), 'lib'));
  process.env.CONVEYOR_TEST_SERVER = host === undefined ? server : path.join(TOOLS, 'guest.sh');
  if (host !== undefined) process.env.CONVEYOR_TEST_SERVER_HOST = host;
};

/** @returns its port; undefined if the server is a binary, or Java has no compiler: then each test starts its own server. */
async function startHost(jars) {
  if (!existsSync(jars)) return undefined;
  // Java's second compiler would cost more than it gains in a run of minutes.
  const options = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx1g', '-cp', path.join(jars, '*')];
  // It ends with its stdin, so it also ends if this process is killed.
  const child = spawn('java', [...options, path.join(TOOLS, 'Host.java')], { stdio: ['pipe', 'pipe', 'ignore'] });
  globalThis.conveyorVirtualHost = child;
  return new Promise((resolve) => {
    child.stdout.once('data', (line) => resolve(String(line).trim()));
    child.once('error', () => resolve(undefined));
    child.once('exit', () => resolve(undefined));
  });
}
