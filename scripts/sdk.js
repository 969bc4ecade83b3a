// `npm run sdk`: the package for extension authors, in dist/sdk-package and packed next to it. It contains sdk/ and the
// files of domain/ that it imports, and nothing else; `exports` of sdk/package.json hides their layout.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { ROOT, run, step } = require('./steps');

const PACKAGE = path.join(ROOT, 'dist/sdk-package');
/** The package contains no link targets other than headings of the page and the files of the protocols. */
const LINK = /\[([^\]]+)\]\((?!#|https?:|protocols\/)[^)]+\)/g;

/** Builds the package in its own folder. */
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
