// The two servers that are not npm packages. The shell scripts find, fetch or build them and print a path.
'use strict';

const path = require('node:path');
const { ROOT, run, step } = require('./steps');

/** Sets TEMPORAL_CLI for everything that we start. */
const ensureTemporal = () => ensure('Temporal server', 'temporal-dev.sh', ['--install-only'], 'TEMPORAL_CLI');

/** Sets CONVEYOR_TEST_SERVER for everything that we start. */
const ensureTestServer = () => ensure('virtual-time test server', 'scripts/test-server.sh', [], 'CONVEYOR_TEST_SERVER');

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

module.exports = { ensureTemporal, ensureTestServer };
