import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { appOf } from '../builders/serverWorld';
import { pageWorld } from '../builders/pageWorld';
import { NAMES, ODD_TEXT, render, renderSpoiled } from '../builders/recordPages';
import { conveyorError } from '../../domain/errors';

const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const HAS_BROWSER = existsSync(EXECUTABLE);
/** Pictures of all pages are saved into this folder, for people who change their style. */
const PICTURES = process.env['CONVEYOR_PAGE_PICTURES'];
const ORIGIN = 'http://localhost:4500';
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'];
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const PAGES: readonly (readonly [name: string, path: string])[] = [
  ['now', '/'],
  ['pipelines', '/pipelines'],
  ['pipeline', '/pipelines/kvstore'],
  ['pipeline-without-releases', '/pipelines/fresh'],
  ['pipeline-odd', '/pipelines/odd'],
  ['release', '/releases/kvstore/13'],
  ['release-wide', '/releases/wide/1'],
  ['release-odd', '/releases/odd/2'],
  ['deploy', '/releases/kvstore/13/deploy'],
  ['deploy-reverted', '/releases/kvstore/11/deploy'],
  ['deploy-huge', '/releases/huge/1/deploy'],
  ['unknown', '/pipelines/nowhere'],
];

/** Pages that are made from models alone. */
const DRAWN = NAMES.flatMap((name) => [
  [name, `/drawn/${name}`] as const,
  [`${name}-odd`, `/drawn/${name}-odd`] as const,
]);

/** The app with these pages, which load its style. */
const withDrawn = (app: ReturnType<typeof appOf>): Pick<ReturnType<typeof appOf>, 'request'> => ({
  request: (url, init) => {
    const [, given, odd] = /\/drawn\/(\w+)(-odd)?$/.exec(String(url)) ?? [];
    const name = NAMES.find((one) => one === given);
    if (name === undefined) return app.request(url, init);
    const page = odd === undefined ? render(name) : renderSpoiled(name, ODD_TEXT);
    return new Response(page, { headers: { 'content-type': 'text/html; charset=UTF-8' } });
  },
});

/** Each width and each scheme once: colors do not depend on the width. Pictures show all four. */
const SCREENS = [
  { width: 360, height: 740, colorScheme: 'light' },
  { width: 1280, height: 900, colorScheme: 'dark' },
  ...(PICTURES === undefined
    ? []
    : ([
        { width: 360, height: 740, colorScheme: 'dark' },
        { width: 1280, height: 900, colorScheme: 'light' },
      ] as const)),
] as const;

/** Answers the requests of a browser by an app in this process; requests to anywhere else fail. */
async function openContext(
  browser: Browser,
  screen: (typeof SCREENS)[number],
  app: Pick<ReturnType<typeof appOf>, 'request'>,
): Promise<BrowserContext> {
  const { colorScheme, ...viewport } = screen;
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  await context.route('**/*', async (route) => {
    const url = route.request().url();
    if (!url.startsWith(ORIGIN)) return route.abort();
    const answer = await app.request(url, { headers: route.request().headers() });
    await route.fulfill({
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: Buffer.from(await answer.arrayBuffer()),
    });
  });
  return context;
}

interface Look {
  /** Faults that axe finds: a rule and the elements. */
  readonly faults: readonly string[];
  /** How many pixels a page is wider than its screen. */
  readonly tooWide: number;
  /** Errors in the console, such as refusals by the policy of the page. */
  readonly errors: readonly string[];
}

async function look(context: BrowserContext, path: string, picture: string | undefined): Promise<Look> {
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())));
  await page.goto(`${ORIGIN}${path}`);
  await page.evaluate(AXE);
  const faults = await page.evaluate<string[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(' | ')))`,
  );
  const tooWide = await page.evaluate<number>(
    'Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)',
  );
  if (picture !== undefined) await page.screenshot({ path: picture, fullPage: true });
  await page.close();
  // A page about a failure has the status of the failure, which the console reports.
  return { faults, tooWide, errors: errors.filter((text) => !text.includes('the server responded with a status of')) };
}

const inBrowser = HAS_BROWSER ? describe : describe.skip;
if (!HAS_BROWSER) console.warn(`no pages were opened: there is no browser at ${EXECUTABLE} (apt-get install chromium)`);

inBrowser('a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    const { chromium } = await import('playwright-core');
    browser = await chromium.launch({ executablePath: EXECUTABLE, args: [...ARGS] });
    if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true });
  });
  afterAll(() => browser?.close());

  test.each(SCREENS)(
    'shows every page at $width pixels, $colorScheme, without a fault for any reader',
    async (screen) => {
      const away = () =>
        Promise.reject(
          conveyorError('temporal-unreachable', { address: 'localhost:7233', detail: 'connection refused' }),
        );
      const [here, gone] = [appOf(undefined, pageWorld()), appOf(undefined, pageWorld({ status: away }))];
      const looks: Record<string, Look> = {};
      for (const [app, pages] of [
        [withDrawn(here), [...PAGES, ...DRAWN]],
        [gone, [['temporal-gone', '/releases/kvstore/13']]],
      ] as const) {
        const context = await openContext(browser, screen, app);
        for (const [name, path] of pages) {
          const file = `${name}-${screen.width}-${screen.colorScheme}.png`;
          looks[name] = await look(context, path, PICTURES === undefined ? undefined : join(PICTURES, file));
        }
        await context.close();
      }
      const flawless: Look = { faults: [], tooWide: 0, errors: [] };
      expect(looks).toEqual(Object.fromEntries(Object.keys(looks).map((name) => [name, flawless])));
      expect(Object.keys(looks)).toHaveLength(PAGES.length + DRAWN.length + 1);
    },
  );
});
