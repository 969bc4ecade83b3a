#!/usr/bin/env node
// The command line, compiled. A checkout that was never built builds itself first.
'use strict';

const { existsSync } = require('node:fs');
const path = require('node:path');

const main = path.join(__dirname, '../dist/cli/main.js');

if (existsSync(main)) require(main);
else buildFirst();

function buildFirst() {
  const { spawnSync } = require('node:child_process');
  process.stderr.write('conveyor is not built yet; building it once\n');
  const built = spawnSync(process.execPath, [path.join(__dirname, '../scripts/run.js'), 'build'], {
    stdio: ['ignore', 2, 2],
  });
  if (built.status === 0) require(main);
  else process.exitCode = 1;
}
