// `npm run sdk`: what an extension author installs, as a package in dist/sdk-package and packed beside it. It is sdk/ and the files of
// domain/ that it imports, and nothing else; `exports` of sdk/package.json hides how they lie.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { ROOT, run, step } = require('./steps');

const PACKAGE = path.join(ROOT, 'dist/sdk-package');
/** The package contains no link targets besides headings of the page and the files of the protocols. */
const LINK = /\[([^\]]+)\]\((?!#|https?:|protocols\/)[^)]+\)/g;

/** Makes the package in a folder of its own. */
async function buildSdk(into = PACKAGE) {
  fs.rmSync(into, { recursive: true, force: true });
  const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.sdk.json', '--outDir', path.join(into, 'lib')];
  await run(process.execPath, tsc, { what: 'the TypeScript compiler' });
  for (const [file, as] of [
    ['sdk/package.json', 'package.json'],
    ['LICENSE', 'LICENSE'],
    ['docs/reference/protocols', 'docs/reference/protocols'],
  ])
    fs.cpSync(path.join(ROOT, file), path.join(into, as), { recursive: true });
  for (const [page, as] of [
    ['sdk/README.md', 'README.md'],
    ['docs/reference/protocols.md', 'docs/reference/protocols.md'],
  ])
    fs.writeFileSync(path.join(into, as), fs.readFileSync(path.join(ROOT, page), 'utf8').replace(LINK, '$1'));
}

/** The file that `npm publish` would send. */
async function packSdk(into = PACKAGE) {
  await step('the package of the sdk', () => buildSdk(into));
  const packed = await run('npm', ['pack', into, '--pack-destination', path.dirname(into), '--json', '--silent'], {
    capture: true,
    what: 'npm pack',
  });
  return path.join(path.dirname(into), JSON.parse(packed)[0].filename);
}

module.exports = { packSdk };
