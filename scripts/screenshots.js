// Takes the pictures of docs/images from a stack that `npm run demo -- --keep` left running: `node
// scripts/screenshots.js http://localhost:PORT`. CHROMIUM names the browser if it is not Debian's.
'use strict';

const path = require('node:path');
const { chromium } = require('playwright-core');

const IMAGES = path.join(__dirname, '../docs/images');
const WIDTH = 1340;
const DEPLOY = 'deploy/kvstore/2/deploy/1';
const HIDDEN = ['Run ID', 'Type', 'Start', 'End'];
const SHOWN = ['ConveyorState', 'ConveyorOutcome', 'ConveyorPhase', 'ConveyorArtifact'];

async function main(webUi) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: WIDTH, height: 900 } });
    await workflowList(page, `${webUi}/namespaces/default/workflows`);
    await deployPage(page, `${webUi}/namespaces/default/workflows/${encodeURIComponent(DEPLOY)}`);
  } finally {
    await browser.close();
  }
}

async function workflowList(page, url) {
  await page.goto(url);
  await page.getByText('pipeline/kvstore').first().waitFor();
  await page.getByLabel('Collapse saved views').click();
  await page.getByTestId('workflows-summary-table-configuration-button').click();
  for (const name of HIDDEN) await page.getByTestId(`orderable-list-item-${name}-remove-button`).click();
  for (const name of SHOWN) await page.getByTestId(`orderable-list-item-${name}-add-button`).click();
  await page.keyboard.press('Escape');
  await page.getByText('reverted').first().waitFor();
  await page.reload(); // without the drawer
  await page.getByText('reverted').first().waitFor();
  await save(page, 'web-ui-list', 500);
}

async function deployPage(page, url) {
  await page.goto(url);
  await page.getByText('User Metadata').first().click();
  await page.frameLocator('iframe').last().getByText('Last steps').waitFor();
  await page.setViewportSize({ width: WIDTH, height: 1440 });
  await save(page, 'web-ui-deploy', 1320);
}

/** Crops the navigation on the left, which is of no interest. */
const save = (page, name, height) =>
  page.screenshot({
    path: path.join(IMAGES, `${name}.png`),
    clip: { x: 204, y: 48, width: WIDTH - 204, height: height - 48 },
  });

main(process.argv[2] ?? 'http://localhost:8233').catch((error) => {
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = 1;
});
