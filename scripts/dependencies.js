// Node and the packages of the lockfile.
'use strict';

const { readFileSync } = require('node:fs');
const path = require('node:path');
const { ROOT, Failed, run, step } = require('./steps');

async function ensureNode() {
  const wanted = readJson('package.json').engines.node.replace('>=', '');
  if (older(process.versions.node, wanted)) {
    throw new Failed(
      `error: this is Node ${process.versions.node}, and Conveyor needs ${wanted} or newer\nhint: install it from https://nodejs.org, or with nvm: nvm install 22`,
    );
  }
}

async function ensureDependencies() {
  const why = outdated();
  if (why === undefined) return;
  await step(`npm packages (${why})`, () => run('npm', ['ci', '--no-progress'], { what: 'npm ci' }));
}

/** Why node_modules differs from the lockfile; undefined if it does not. npm leaves a record of the installed packages there. */
function outdated() {
  const wanted = readJson('package-lock.json').packages;
  let installed;
  try {
    installed = readJson('node_modules/.package-lock.json').packages;
  } catch {
    return 'not installed yet';
  }
  const differs = Object.entries(wanted).find(
    ([where, it]) =>
      where !== '' && it.version !== installed[where]?.version && !(it.optional && !(where in installed)),
  );
  return differs && `${differs[0].replace('node_modules/', '')} is not ${differs[1].version} yet`;
}

const readJson = (file) => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));

function older(version, wanted) {
  const [have, need] = [version, wanted].map((text) => text.split('.').map(Number));
  const at = need.findIndex((part, index) => part !== (have[index] ?? 0));
  return at !== -1 && (have[at] ?? 0) < need[at];
}

module.exports = { ensureNode, ensureDependencies, outdated, older };
