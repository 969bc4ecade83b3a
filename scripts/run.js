// `npm run demo | dev | build | bench | chaos | reproduce | docs | sdk | test:long | test:night | test:all` and `npm test`: installs everything that a fresh clone
// lacks, then runs the command. Plain Node without dependencies, because it runs before any are installed.
'use strict';

const { Failed, report, say } = require('./steps');
const { ensureNode, ensureDependencies } = require('./dependencies');
const { ensureBuild } = require('./build');
const { ensureTemporal } = require('./servers');
const { runConveyor } = require('./conveyor');
const { runTests } = require('./test');
const { runBench } = require('./bench');
const { runChaos } = require('./chaos');
const { runReproduce } = require('./reproduce');
const { runDocs } = require('./docs');
const { packSdk } = require('./sdk');

const VERBS = {
  build: async () => ensureBuild(),
  demo: async (args) => runStack('demo', args),
  dev: async (args) => runStack('dev', args),
  test: async (args) => runTests('short', args),
  'test:long': async (args) => runTests('long', args),
  'test:night': async (args) => runTests('night', args),
  'test:all': async (args) => runTests('all', args),
  bench: async (args) => runBench(args),
  chaos: async (args) => runChaos(args),
  reproduce: async (args) => runReproduce(args),
  docs: async (args) => runDocs(args),
  sdk: async () => void say(await packSdk()),
};

async function main([verb, ...args]) {
  if (!Object.hasOwn(VERBS, verb ?? ''))
    throw new Failed(`usage: node scripts/run.js ${Object.keys(VERBS).join('|')} [arguments]`, 2);
  await ensureNode();
  await ensureDependencies();
  return (await VERBS[verb](args)) ?? 0;
}

async function runStack(command, args) {
  await ensureBuild();
  await ensureTemporal();
  return runConveyor([command, ...args]);
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error) => process.exit(report(error)),
);
