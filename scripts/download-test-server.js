// Makes the Temporal SDK download its own test server into a folder, proves that it starts, and prints its path.
'use strict';

const { readdirSync } = require('node:fs');
const path = require('node:path');

const PATIENCE_MS = 60_000;

async function main(folder) {
  const { TestWorkflowEnvironment } = require('@temporalio/testing');
  const env = await within(
    PATIENCE_MS,
    TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'cached-download', downloadDir: folder } },
    }),
  );
  await env.teardown();
  const [name] = readdirSync(folder);
  if (name === undefined) throw new Error('the SDK started a server but left no file');
  process.stdout.write(`${path.join(folder, name)}\n`);
}

function within(ms, promise) {
  const late = new Promise((_, no) => setTimeout(() => no(new Error(`nothing arrived in ${ms / 1000} s`)), ms).unref());
  return Promise.race([promise, late]);
}

main(process.argv[2]).then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`  not available: ${error.message}\n`);
    process.exit(1);
  },
);
