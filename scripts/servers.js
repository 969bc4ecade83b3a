// The servers that are not npm packages. The shell scripts find, fetch or build them and print a path.
'use strict';

const path = require('node:path');
const { Failed, ROOT, run, say, step } = require('./steps');

/** Sets TEMPORAL_CLI for all processes that we start. */
const ensureTemporal = () => ensure('Temporal server', 'temporal-dev.sh', ['--install-only'], 'TEMPORAL_CLI');

/** Sets CONVEYOR_TEST_SERVER for all processes that we start. */
const ensureTestServer = () => ensure('virtual-time test server', 'scripts/test-server.sh', [], 'CONVEYOR_TEST_SERVER');

/** Sets CONVEYOR_ETCD for all processes that we start; without etcd its tests are skipped, and report that. */
async function ensureEtcd() {
  try {
    await ensure('etcd', 'scripts/etcd.sh', [], 'CONVEYOR_ETCD');
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    say('note: tests that need etcd are skipped');
  }
}

/** The same for PostgreSQL. */
async function ensurePostgres() {
  try {
    await ensure('PostgreSQL', 'scripts/postgres.sh', [], 'CONVEYOR_POSTGRES');
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    say('note: tests that need PostgreSQL are skipped');
  }
}

async function ensure(name, script, args, variable) {
  await step(name, async () => {
    const output = await run('bash', [path.join(ROOT, script), ...args], {
      capture: true,
      what: `getting the ${name}`,
    });
    process.env[variable] = output.trim().split('\n').at(-1);
    return process.env[variable];
  });
}

module.exports = { ensureEtcd, ensurePostgres, ensureTemporal, ensureTestServer };
