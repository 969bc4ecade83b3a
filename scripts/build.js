// Builds dist/, the compiled programs and the workflow bundle, but only if something changed.
'use strict';

const { writeFileSync } = require('node:fs');
const path = require('node:path');
const { ROOT, run, step } = require('./steps');
const { digest, isCurrent, remember } = require('./inputs');
const { ensureAgent } = require('./agent');
const { ensureBundle } = require('./bundle');
const { FOLDERS } = require('../tools/eslint/layers');

const FILES = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
const MAIN = path.join(ROOT, 'dist/cli/main.js');
const TREE = path.join(ROOT, 'dist/cli/completion/tree.json');
const STAMP = path.join(ROOT, 'dist/.build.digest');

async function ensureBuild() {
  const now = digest(FOLDERS, FILES);
  if (!isCurrent(MAIN, STAMP, now)) {
    await step('compile', () =>
      run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
        what: 'the TypeScript compiler',
      }),
    );
    // The command tree for completion, which does not load all commands.
    const tree = await run(process.execPath, [MAIN, '__commands'], { capture: true, what: 'the list of commands' });
    writeFileSync(TREE, tree);
    remember(STAMP, now);
  }
  await step('agent', async () => ((await ensureAgent()).made ? 'made' : 'up to date'));
  await step('workflow bundle', async () => ((await ensureBundle()).made ? 'made' : 'up to date'));
}

/** Whether dist/ was built from the present sources. */
const buildIsCurrent = () => isCurrent(MAIN, STAMP, digest(FOLDERS, FILES));

module.exports = { MAIN, ensureBuild, buildIsCurrent };
