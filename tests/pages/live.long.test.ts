import { serve, type ServerType } from '@hono/node-server';
import { existsSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import type { DeployStatus } from '../../domain/views';
import { CONFIG } from '../builders/accessWorld';
import { buttonWorld } from '../builders/buttonWorld';
import { revertedDeploy } from '../builders/cliSamples';
import { listed, pageWorld, running, succeeded } from '../builders/pageWorld';

const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'];
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const DEPLOY = '/releases/kvstore/13/deploy';
const SLOW_MS = 120_000;
const SCREENS = [
  [360, 'dark'],
  [1280, 'light'],
] as const;

const inBrowser = existsSync(EXECUTABLE) ? describe : describe.skip;
if (!existsSync(EXECUTABLE)) console.warn(`no page was opened: there is no browser at ${EXECUTABLE}`);

/** Faults that axe finds: a rule and the elements. */
async function findFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate<string[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(' | ')))`,
  );
}

/** Presses Tab until the element with this text has the focus, as a person without a mouse does. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let nth = 0; nth < 80; nth += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate<boolean>(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
  }
  throw new Error(`no key leads to ${selector}`);
}

/** The policy of pages lets no page wait for an expression by itself. */
async function waitUntil(page: Page, expression: string): Promise<void> {
  for (let nth = 0; nth < 300; nth += 1) {
    if (await page.evaluate<boolean>(expression)) return;
    await page.waitForTimeout(200);
  }
  throw new Error(`never: ${expression}`);
}

/** A server at a port of this machine whose only deploy is `now`. */
async function openWorld() {
  const state = { now: running(), away: false, pipelines: [listed('kvstore')] };
  const plain = pageWorld();
  const world = buttonWorld(
    {
      status: async (id) => {
        if (state.away) throw new Error('away');
        if (id === 'kvstore/15') return { ...succeeded(15), state: 'queued', endedAt: null, actions: [], timeline: [] };
        return id === state.now.id ? state.now : plain.client.status(id);
      },
      release: () => Promise.resolve({ id: 'kvstore/15', number: 15, duplicate: false }),
      command: (id, verb) => {
        if (verb === 'revert') state.now = reverting();
        return Promise.resolve({ id, accepted: true, effect: 'every task that it updated goes back' });
      },
    },
    { ...CONFIG, sessions: {} },
    { pipelinePage: () => Promise.resolve({ pipelines: state.pipelines, next: null, total: null }) },
  );
  const clock = setInterval(() => void (world.clock.ms = Date.now()), 100);
  const server = await new Promise<ServerType>((resolve) => {
    const started: ServerType = serve({ fetch: world.app.fetch, port: 0, hostname: '127.0.0.1' }, () =>
      resolve(started),
    );
  });
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  const close = (): void => {
    clearInterval(clock);
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  };
  return { state, origin, close };
}

const reverting = (): DeployStatus => ({
  ...running(),
  ...{
    state: 'reverting',
    summary: 'reverting: customers see errors',
    accepts: { pause: 'the revert starts no further updates' },
  },
});

inBrowser('a person with a keyboard', () => {
  let [browser, world]: [Browser | undefined, Awaited<ReturnType<typeof openWorld>> | undefined] = [
    undefined,
    undefined,
  ];
  beforeAll(async () => {
    const { chromium } = await import('playwright-core');
    browser = await chromium.launch({ executablePath: EXECUTABLE, args: ARGS });
    world = await openWorld();
  }, SLOW_MS);
  afterAll(async () => {
    await browser?.close();
    world?.close();
  });

  test(
    'signs in, reverts a deploy, and sees it go back without a reload',
    async () => {
      const { state, origin } = world!;
      const page = await browser!.newPage();
      page.setDefaultTimeout(60_000);
      const errors: string[] = [];
      page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())));
      await page.goto(`${origin}/sign-in?to=${DEPLOY}`);
      const faults = [await findFaults(page)];
      await tabTo(page, '#token');
      await page.keyboard.type('dev:user:alice');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${origin}${DEPLOY}`);
      faults.push(await findFaults(page));
      await tabTo(page, '[action$="/commands/revert"] button');
      await page.keyboard.press('Enter');
      await page.waitForSelector('#confirm');
      for (const [width, colorScheme] of SCREENS) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        faults.push(await findFaults(page));
        const wide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        expect(await page.evaluate(wide)).toBe(0);
      }
      await tabTo(page, 'textarea');
      await page.keyboard.type('customers see errors');
      await tabTo(page, '#confirm button');
      await page.keyboard.press('Enter');
      await page.waitForSelector('#done');
      faults.push(await findFaults(page));
      expect(await page.textContent('h1')).toContain('reverting');
      await page.evaluate('window.mark = 1');
      state.now = revertedDeploy();
      await waitUntil(page, 'document.querySelector("h1").textContent.includes("reverted")');
      expect(await page.evaluate('window.mark')).toBe(1);
      faults.push(await findFaults(page));
      expect([faults.flat(), errors]).toEqual([[], []]);
      await page.goto(`${origin}/pipelines/kvstore/commands/hold`);
      expect(await page.textContent('#refusal')).toContain('it does not accept this now');
      expect(await findFaults(page)).toEqual([]);
      await page.close();
    },
    SLOW_MS,
  );

  test.each([true, false])(
    'starts a release, and is on its page, which says so (with the script: %s)',
    async (javaScriptEnabled) => {
      const { origin } = world!;
      const page = await (await browser!.newContext({ javaScriptEnabled })).newPage();
      page.setDefaultTimeout(60_000);
      await page.goto(`${origin}/sign-in?to=/pipelines/kvstore`);
      await page.fill('#token', 'dev:user:alice');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${origin}/pipelines/kvstore`);
      await page.click('[action$="/commands/release"] button');
      for (const field of await page.locator('#confirm input[required]').all()) await field.fill('15');
      await page.fill('#confirm textarea', 'the new search');
      await page.click('#confirm button[type="submit"]');
      await page.waitForURL(({ pathname }) => pathname === '/releases/kvstore/15');
      expect(await page.textContent('#done')).toContain('kvstore/15: it is started');
      expect(await page.textContent('h1')).toContain('kvstore/15');
      await page.context().close();
    },
    SLOW_MS,
  );

  test(
    'keeps the focus, and the parts that do not change, while a page changes',
    async () => {
      const { state, origin } = world!;
      state.now = running();
      const page = await browser!.newPage();
      page.setDefaultTimeout(60_000);
      await page.goto(`${origin}${DEPLOY}`);
      await page.evaluate('window.kept = document.querySelector("#units"); document.querySelector(".scroll").focus()');
      const focused = await page.evaluate<string>('document.activeElement.getAttribute("aria-label")');
      state.now = { ...running(), summary: 'phase half is about to end', version: 'kv:99' };
      await waitUntil(page, 'document.querySelector("#facts").textContent.includes("about to end")');
      expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(focused);
      expect(await page.evaluate('window.kept === document.querySelector("#units")')).toBe(true);
      await page.close();
    },
    SLOW_MS,
  );

  test(
    'keeps the text that a person has opened open, and where they are, while entries come above it',
    async () => {
      const { state, origin } = world!;
      const entry = (nth: number) => ({
        ...{ at: `2026-11-20T14:0${nth}:00.000Z`, kind: 'updates-done' },
        text: `entry ${nth}: ${'it took longer than before. '.repeat(40)}`,
      });
      const timeline = [0, 1, 2, 3, 4, 5].map(entry);
      state.now = { ...running(), timeline };
      const page = await browser!.newPage();
      page.setDefaultTimeout(60_000);
      await page.setViewportSize({ width: 1000, height: 400 });
      await page.goto(`${origin}${DEPLOY}`);
      await waitUntil(page, 'document.querySelectorAll("#timeline details").length === 6');
      await page.evaluate(
        'const one = document.querySelectorAll("#timeline details")[2]; one.open = true; one.scrollIntoView(); one.firstElementChild.focus()',
      );
      const open =
        '[...document.querySelectorAll("#timeline details[open]")].map((one) => one.textContent.slice(0, 7))';
      expect(await page.evaluate(open)).toEqual(['entry 3']);
      const top = 'document.activeElement.getBoundingClientRect().top';
      const before = await page.evaluate<number>(top);
      state.now = { ...running(), summary: 'phase half is about to end', timeline: [...timeline, entry(6), entry(7)] };
      await waitUntil(page, 'document.querySelectorAll("#timeline details").length === 8');
      expect(await page.evaluate(open)).toEqual(['entry 3']);
      expect(await page.evaluate('document.activeElement.textContent.slice(0, 7)')).toBe('entry 3');
      expect(Math.abs((await page.evaluate<number>(top)) - before)).toBeLessThan(2);
      state.now = { ...running(), timeline: timeline.slice(2, 5) };
      await waitUntil(page, 'document.querySelectorAll("#timeline details").length === 3');
      expect(await page.evaluate(open)).toEqual(['entry 3']);
      await page.close();
    },
    SLOW_MS,
  );

  test(
    'reads the times of a page in their own zone, and without script in UTC',
    async () => {
      const { state, origin } = world!;
      state.now = running();
      const context = await browser!.newContext({ timezoneId: 'Asia/Tokyo' });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      const errors: string[] = [];
      page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())));
      await page.goto(`${origin}${DEPLOY}`);
      await waitUntil(page, 'document.querySelector("footer").textContent.includes("Times are in Asia/Tokyo")');
      expect(await page.textContent('#facts')).toMatch(/bakes until (20 Nov )?23:04:52/);
      expect(await (await page.request.get(`${origin}/pipelines`)).text()).toContain('Times are in Asia/Tokyo');
      expect(errors).toEqual([]);
      await context.close();
      const plain = await browser!.newContext({ timezoneId: 'Asia/Tokyo', javaScriptEnabled: false });
      const still = await plain.newPage();
      await still.goto(`${origin}${DEPLOY}`);
      expect(await still.textContent('footer')).toContain('Times are in UTC');
      await plain.close();
    },
    SLOW_MS,
  );

  test(
    'finishes a form while the list below it changes',
    async () => {
      const { state, origin } = world!;
      const page = await browser!.newPage();
      page.setDefaultTimeout(60_000);
      await page.goto(`${origin}/pipelines`);
      await page.focus('[name="owner"]');
      await page.keyboard.type('group:sto');
      await page.evaluate('document.activeElement.blur(); window.rows = document.querySelectorAll("tbody tr")');
      state.pipelines = [listed('added'), listed('kvstore')];
      await waitUntil(page, 'document.querySelectorAll("tbody tr").length === 2');
      expect(await page.inputValue('[name="owner"]')).toBe('group:sto');
      expect(await page.evaluate('window.rows[0] === document.querySelectorAll("tbody tr")[1]')).toBe(true);
      await page.close();
    },
    SLOW_MS,
  );

  test(
    'reads since when a page is old while its server has no answer, and again once it has',
    async () => {
      const { state, origin } = world!;
      state.now = running();
      const page = await browser!.newPage();
      page.setDefaultTimeout(60_000);
      await page.goto(`${origin}${DEPLOY}`);
      // Readers share a look of a second, which may be that of the last test.
      await waitUntil(page, 'document.querySelector("#facts").textContent.includes("bakes until")');
      const shown = await page.textContent('#facts');
      await page.waitForTimeout(1_500);
      state.away = true;
      await waitUntil(page, 'document.querySelector("#live").textContent.includes("This page is as of 20")');
      expect(await page.textContent('#facts')).toBe(shown);
      state.away = false;
      await waitUntil(page, 'document.querySelector("#live").textContent === ""');
      await page.close();
    },
    SLOW_MS,
  );
});
