// Runs before system tests: starts one tuned development server in memory for all of them, on a free port, at
// CONVEYOR_TEST_TEMPORAL. Tests that kill or restart a server start a separate one from CONVEYOR_TEST_TEMPORAL_CLI.
'use strict';

const { spawn } = require('node:child_process');
const { chmodSync, mkdtempSync } = require('node:fs');
const { createServer } = require('node:net');
const path = require('node:path');
const { ensureBundle } = require('../../scripts/bundle');
const { ROOT, pathFrom } = require('./pathFrom');

module.exports = async () => {
  process.env.CONVEYOR_TEST_BUNDLE = (await ensureBundle()).codePath;
  process.env.CONVEYOR_TEST_TEMPORAL_CLI = pathFrom('temporal-dev.sh', '--install-only');
  process.env.TEMPORAL_CLI = process.env.CONVEYOR_TEST_TEMPORAL_CLI;
  process.env.CONVEYOR_TEST_TEMPORAL = await startOnFreePort();
};

/** It also uses other ports, and one of them may be taken meanwhile: then it tries others. */
async function startOnFreePort(tries = 3) {
  const port = process.env.CONVEYOR_TEST_CLUSTER ? clusterPort() : await freePort();
  try {
    globalThis.conveyorDevServer = await start(port);
    return `127.0.0.1:${port}`;
  } catch (error) {
    if (tries <= 1) throw error;
    return startOnFreePort(tries - 1);
  }
}

/** With CONVEYOR_TEST_CLUSTER the real servers, on PostgreSQL, instead of the development server. */
const scriptOf = (port) =>
  process.env.CONVEYOR_TEST_CLUSTER
    ? ['temporal-cluster.sh', '--servers', '2', '--data', clusterFolder(), '--port', port]
    : ['temporal-dev.sh', '--ephemeral', '--headless', '--port', port, '--log-level', 'never'];

/** The store of a cluster accepts no port above 32,767. */
const clusterPort = () => 12_000 + 300 * Math.floor(Math.random() * 60);

/** PostgreSQL runs as the user `nobody` if these tests run as root, and must be able to enter the folder. */
function clusterFolder() {
  const folder = mkdtempSync('/var/tmp/conveyor-cluster-');
  chmodSync(folder, 0o755);
  globalThis.conveyorClusterFolder = folder;
  return folder;
}

/** Resolves once the script reports that the server is ready. */
function start(port) {
  const [script, ...args] = scriptOf(String(port));
  const child = spawn('bash', [path.join(ROOT, script), ...args], { stdio: ['ignore', 'pipe', 2] });
  // A cluster stops its own processes.
  process.once('exit', () => child.kill(process.env.CONVEYOR_TEST_CLUSTER ? 'SIGTERM' : 'SIGKILL'));
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => String(chunk).includes('Temporal ready') && resolve(child));
    child.once('exit', (code) => reject(new Error(`the Temporal server ended with ${code} before it was ready`)));
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
