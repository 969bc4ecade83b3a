// The workflow bundle, kept until a workflow, a decision or the SDK changes.
'use strict';

const { existsSync, mkdirSync, renameSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { ROOT, Failed } = require('./steps');
const { digest, isCurrent, remember } = require('./inputs');

const ENTRY = path.join(ROOT, 'workflows/index.ts');
const STACK_TRACES = path.join(ROOT, 'workflows/stackTraces.ts');
const INTERCEPTORS = ['provenance.ts', 'serverTime.ts'].map((file) => path.join(ROOT, 'workflows', file));
const BUNDLE = path.join(ROOT, 'dist/workflow-bundle.js');
const STAMP = path.join(ROOT, 'dist/.workflow-bundle.digest');
const INPUTS = [
  ['workflows', 'domain'],
  ['package-lock.json', 'tsconfig.json', 'scripts/bundle.js'],
];

/** The path of an up-to-date bundle, and whether it had to be built. */
async function ensureBundle() {
  const now = digest(...INPUTS);
  if (isCurrent(BUNDLE, STAMP, now)) return { codePath: BUNDLE, made: false };
  if (!existsSync(ENTRY)) throw new Failed('error: there is no workflows/index.ts to make the workflow bundle from');
  const { bundleWorkflowCode } = require('@temporalio/worker');
  // Loaded once for all workflows of a worker, instead of once for each, so no module may keep state (eslint.config.js).
  const { code } = await bundleWorkflowCode({
    workflowsPath: ENTRY,
    workflowInterceptorModules: INTERCEPTORS,
    preloadModules: [STACK_TRACES, ...INTERCEPTORS, ENTRY],
    webpackConfigHook: forThisNode,
    logger: onlyProblems,
  });
  mkdirSync(path.dirname(BUNDLE), { recursive: true });
  writeFileSync(`${BUNDLE}.${process.pid}`, code);
  renameSync(`${BUNDLE}.${process.pid}`, BUNDLE);
  remember(STAMP, now);
  return { codePath: BUNDLE, made: true };
}

/** The SDK compiles for ES2017, in which each `{ ...record }` calls helpers that read every descriptor. */
function forThisNode(config) {
  const typescript = config.module.rules.find(({ test }) => test.test('workflow.ts'));
  typescript.use.options.jsc.target = 'es2022';
  return config;
}

const quiet = () => undefined;
const loud = (message) => process.stderr.write(`  ${message}\n`);
const onlyProblems = { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: loud, error: loud };

module.exports = { ensureBundle };
