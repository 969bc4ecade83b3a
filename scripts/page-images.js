// Takes pictures of the web pages of a server with the world of the demo, such as that of `npm run demo -- --keep`:
// `node scripts/page-images.js http://localhost:4500` makes those of docs/images, and with a folder behind it those of
// all pages, light and dark. CHROMIUM names the browser if it is not Debian's.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const IMAGES = path.join(__dirname, '../docs/images');
const SCHEMES = ['light', 'dark'];
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'];

/** Each page of the server, with an example that the demo has; tests/pages/images.test.ts compares them with the routes. */
const PAGES = [
  { name: 'home', path: '/' },
  { name: 'pipelines', path: '/pipelines' },
  { name: 'pipeline', path: '/pipelines/kvstore' },
  { name: 'release', path: '/releases/kvstore/2' },
  { name: 'deploy', path: '/releases/kvstore/2/deploy' },
  { name: 'where', path: '/where?revision=kv:12' },
  { name: 'calendar', path: '/calendar' },
  { name: 'stats', path: '/stats' },
  { name: 'bugs', path: '/bugs' },
  { name: 'bug', path: '/bugs/1' },
  { name: 'freshness', path: '/freshness' },
  { name: 'audit', path: '/audit' },
  { name: 'config', path: '/config' },
  { name: 'repository', path: '/config/flags' },
  { name: 'value', path: '/config/flags/value?path=feed/limits' },
  { name: 'gates', path: '/gates' },
  { name: 'gate', path: '/gates/flags/checkout' },
  { name: 'settings', path: '/settings' },
];

/** The pictures of the documents, for readers of both schemes. */
const OF_DOCUMENTS = ['pipeline', 'deploy'].flatMap((name) => [
  { name, file: `page-${name}`, scheme: 'light' },
  { name, file: `page-${name}-dark`, scheme: 'dark' },
]);

/** A larger picture takes too long to load. */
const MOST_BYTES = 150_000;
const SIZE = { width: 1280, height: 760 };

async function main(server, folder) {
  const { chromium } = require('playwright-core');
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ARGS });
  try {
    const wanted =
      folder === undefined
        ? OF_DOCUMENTS.map((one) => ({ ...one, folder: IMAGES }))
        : PAGES.flatMap(({ name }) => SCHEMES.map((scheme) => ({ name, file: `${name}-${scheme}`, scheme, folder })));
    for (const one of wanted) await takePicture(browser, server, one);
  } finally {
    await browser.close();
  }
}

async function takePicture(browser, server, { name, file, scheme, folder }) {
  const page = await browser.newPage({ viewport: SIZE, colorScheme: scheme, reducedMotion: 'reduce' });
  const { path: address } = PAGES.find((one) => one.name === name);
  const answer = await page.goto(`${server}${address}`);
  if (folder === IMAGES && !answer.ok()) throw new Error(`${address} answered ${answer.status()}`);
  fs.mkdirSync(folder, { recursive: true });
  const picture = await page.screenshot({ path: path.join(folder, `${file}.png`) });
  await page.close();
  if (folder === IMAGES && picture.length > MOST_BYTES)
    throw new Error(`${file}.png has ${picture.length} bytes, more than ${MOST_BYTES}`);
}

if (require.main === module)
  main(process.argv[2] ?? 'http://localhost:4500', process.argv[3]).catch((error) => {
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = 1;
  });

module.exports = { PAGES, OF_DOCUMENTS };
