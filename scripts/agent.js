// The agent of hosts as one file: dist/agent/conveyor-agent.js, with its digest, install.sh and the systemd unit beside it. It needs Node and flock.
'use strict';

const { createHash } = require('node:crypto');
const { copyFileSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { ROOT } = require('./steps');
const { digest, isCurrent, remember } = require('./inputs');

const ENTRY = path.join(ROOT, 'push-types/slowroll/agent/main.ts');
const AGENT = path.join(ROOT, 'dist/agent/conveyor-agent.js');
const STAMP = path.join(ROOT, 'dist/.agent.digest');
const SHIPPED = ['install.sh', 'conveyor-agent.service'].map((name) => `push-types/slowroll/agent/${name}`);
const INPUTS = [['push-types'], ['package-lock.json', 'tsconfig.json', 'scripts/agent.js', ...SHIPPED]];

/** Bundles the agent, but only if something changed. */
async function ensureAgent() {
  const now = digest(...INPUTS);
  if (isCurrent(AGENT, STAMP, now)) return { made: false };
  await bundleAgent(AGENT);
  for (const file of SHIPPED) copyFileSync(path.join(ROOT, file), path.join(path.dirname(AGENT), path.basename(file)));
  remember(STAMP, now);
  return { made: true };
}

/** Writes the bundle and `<file>.sha256`, in the format of sha256sum. */
async function bundleAgent(file, entry = ENTRY) {
  const { build } = require('esbuild');
  mkdirSync(path.dirname(file), { recursive: true });
  await build({
    ...{ entryPoints: [entry], outfile: file, bundle: true, absWorkingDir: ROOT },
    ...{ platform: 'node', target: 'node20', mainFields: ['module', 'main'], legalComments: 'inline' },
    ...{ banner: { js: '#!/usr/bin/env node' }, logLevel: 'warning' },
  });
  const sum = createHash('sha256').update(readFileSync(file)).digest('hex');
  writeFileSync(`${file}.sha256`, `${sum}  ${path.basename(file)}\n`);
}

module.exports = { bundleAgent, ensureAgent };

// `node scripts/agent.js FILE [ENTRY]`, for tests.
if (require.main === module) void bundleAgent(path.resolve(process.argv[2]), process.argv[3]);
